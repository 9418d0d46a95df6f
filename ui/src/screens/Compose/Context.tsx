// What the task should know: facts with names, each in the field that fits its kind, groups inside groups.

import { ActionIcon, Button, Menu, Switch, Textarea, TextInput, Tooltip, UnstyledButton } from "@mantine/core";
import { IconCheck, IconChevronDown, IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { NumberField } from "../../components/NumberField.tsx";
import { useCompose } from "../../state/compose.ts";
import { convertFact, factKind, factKinds, freeName, isPlainList } from "../../state/context.ts";
import { type Path, renameAt, setAt, writePath } from "../../state/taskSource.ts";
import { isRecord } from "../../state/value.ts";
import { useText } from "../../text/index.ts";
import classes from "./Context.module.css";
import { Problems } from "./problems.tsx";

/** The facts of a task. */
export function Context({ value }: { value: Record<string, unknown> }) {
  const t = useText();
  return (
    <>
      <Facts path={["context"]} value={value} />
      {Object.keys(value).length === 0 && <p className={classes.hint}>{t("compose.contextHint")}</p>}
      <Problems place="context" />
    </>
  );
}

function Facts({ path, value }: { path: Path; value: Record<string, unknown> }) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const names = Object.keys(value);
  return (
    <div className={classes.facts} data-inner={path.length > 1 || undefined}>
      {names.map((name, index) => (
        <Fact key={index} path={path} name={name} value={value[name]} taken={names} />
      ))}
      <Button
        className={classes.add ?? ""}
        variant="subtle"
        color="gray"
        size="xs"
        leftSection={<IconPlus size={14} stroke={1.8} />}
        onClick={() => change((source) => setAt(source, [...path, freeName(names, t("compose.contextField.newName"))], ""))}
      >
        {path.length > 1 ? t("compose.contextField.addInside") : t("compose.addContext")}
      </Button>
    </div>
  );
}

interface FactProps {
  path: Path;
  name: string;
  value: unknown;
  taken: readonly string[];
}

function Fact({ path, name, value, taken }: FactProps) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const [typed, setTyped] = useState<string | null>(null);
  const here = [...path, name];
  const kind = factKind(value);
  const isTaken = typed !== null && typed !== name && taken.includes(typed);
  const rename = () => {
    if (typed !== null && typed.trim() !== "" && !isTaken) change((source) => renameAt(source, path, name, typed.trim()));
    setTyped(null);
  };
  return (
    <div className={classes.fact}>
      <div className={classes.row} data-kind={kind}>
        <TextInput
          classNames={{ input: classes.name ?? "" }}
          aria-label={t("compose.contextField.name")}
          placeholder={t("compose.contextField.namePlaceholder")}
          // A fact that was just added is named first.
          autoFocus={value === "" && name.startsWith(t("compose.contextField.newName"))}
          onFocus={(event) => event.currentTarget.select()}
          value={typed ?? name}
          error={isTaken ? t("compose.contextField.taken") : undefined}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onBlur={rename}
          onKeyDown={(event) => event.key === "Enter" && rename()}
          spellCheck={false}
        />
        <div className={classes.value}>
          <FactValue path={here} name={name} value={value} />
        </div>
        <Menu position="bottom-end">
          <Menu.Target>
            <UnstyledButton className={classes.kind} aria-label={`${t("compose.contextField.kind")}: ${t(`compose.contextField.${kind}`)}`}>
              {t(`compose.contextField.${kind}`)}
              <IconChevronDown size={13} stroke={1.6} aria-hidden />
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            {factKinds.map((to) => (
              <Menu.Item
                key={to}
                leftSection={<IconCheck size={15} stroke={2} style={{ visibility: to === kind ? "visible" : "hidden" }} aria-hidden />}
                onClick={() => to !== kind && change((source) => setAt(source, here, convertFact(value, to)))}
              >
                {t(`compose.contextField.${to}`)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Tooltip label={t("compose.contextField.remove", { name })}>
          <ActionIcon size={28} aria-label={t("compose.contextField.remove", { name })} onClick={() => change((source) => setAt(source, here, undefined))}>
            <IconX size={14} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      {kind === "group" && isRecord(value) && <Facts path={here} value={value} />}
      <Problems place={writePath(here)} />
    </div>
  );
}

function FactValue({ path, name, value }: { path: Path; name: string; value: unknown }) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const set = (next: unknown) => change((source) => setAt(source, path, next));
  const label = `${name}: ${t("compose.contextField.value")}`;
  switch (factKind(value)) {
    case "number":
      return (
        <NumberField aria-label={label} needed value={typeof value === "number" ? value : 0} onChange={set} />
      );
    case "yesNo":
      return (
        <Switch
          aria-label={label}
          label={value === true ? t("compose.contextField.yes") : t("compose.contextField.no")}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      );
    case "list":
      return isPlainList(value) ? (
        <ListValue label={label} value={value} set={set} />
      ) : (
        <p className={classes.inSource}>{t("compose.contextField.inSource")}</p>
      );
    case "group":
      return null;
    case "text":
      return (
        <Textarea
          aria-label={label}
          autosize
          minRows={1}
          maxRows={10}
          value={typeof value === "string" ? value : ""}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
  }
}

function ListValue({ label, value, set }: { label: string; value: (string | number)[]; set: (value: unknown) => void }) {
  const t = useText();
  // An empty last line is kept while one types; it is not part of the list.
  const [typed, setTyped] = useState(() => value.join("\n"));
  return (
    <Textarea
      aria-label={label}
      placeholder={t("compose.contextField.listHint")}
      autosize
      minRows={2}
      maxRows={12}
      value={typed}
      onChange={(event) => {
        const lines = event.currentTarget.value;
        setTyped(lines);
        set(lines.split("\n").filter((line) => line.trim() !== "").map((line) => (/^-?\d+(\.\d+)?$/.test(line) ? Number(line) : line)));
      }}
    />
  );
}
