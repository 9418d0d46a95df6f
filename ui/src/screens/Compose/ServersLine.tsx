// The MCP servers whose tools a plan of this task may use: a switch for each that is set up. Nothing is shown where there
// is none.

import { Switch } from "@mantine/core";
import { useMcpServers } from "../../api/servers.ts";
import { useCompose } from "../../state/compose.ts";
import { setAt } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import classes from "./Compose.module.css";

/** The switches. */
export function ServersLine({ servers }: { servers: readonly string[] }) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const ready = (useMcpServers().data ?? []).filter((server) => server.approved !== null).map(({ name }) => name);
  // What a file asks for and is not set up here can at least be taken out.
  const missing = servers.filter((name) => !ready.includes(name));
  if (ready.length === 0 && missing.length === 0) return null;
  const set = (name: string, on: boolean) => {
    const next = on ? [...servers, name] : servers.filter((one) => one !== name);
    change((source) => setAt(source, ["permissions", "servers"], next.length > 0 ? next : undefined));
  };
  return (
    <section className={classes.limits} aria-label={t("compose.servers.title")}>
      <p>{t("compose.servers.body")}</p>
      <div className={classes.servers}>
        {[...ready, ...missing].map((name) => (
          <Switch
            key={name}
            size="sm"
            label={ready.includes(name) ? name : `${name} (${t("compose.servers.unknown")})`}
            checked={servers.includes(name)}
            onChange={(event) => set(name, event.currentTarget.checked)}
          />
        ))}
      </div>
    </section>
  );
}
