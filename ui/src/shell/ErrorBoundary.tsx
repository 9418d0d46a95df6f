// Catches a screen that stops working, so that the rest of the window goes on.

import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { Notice } from "../components/Notice.tsx";
import { text } from "../text/index.ts";

interface Props {
  /** A new value gives the screen another chance. */
  place: string;
  children: ReactNode;
}

interface State {
  error: Error | null;
  place: string;
}

/** Shows a calm sentence in place of a screen that threw. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, place: this.props.place };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.place === state.place ? null : { error: null, place: props.place };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Notice
        tone="failed"
        title={text("app.crash.title")}
        body={text("app.crash.body")}
        details={error.message}
        action={<Button onClick={() => this.setState({ error: null })}>{text("app.crash.reload")}</Button>}
      />
    );
  }
}
