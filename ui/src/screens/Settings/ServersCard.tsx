// MCP servers: programs and services that bring more tools. Added by pasting what their page says, connected and approved
// by a person, and named on a plan before a step uses one.

import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { useAddServers, useMcpServers } from "../../api/servers.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { sentence } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import { ServerRow } from "./ServerRow.tsx";
import classes from "./ServersCard.module.css";
import { useTold } from "./Told.tsx";

/** The card. */
export function ServersCard() {
  const t = useText();
  const servers = useMcpServers();
  const [adds, setAdds] = useState(false);
  if (servers.isPending) return <ListSkeleton rows={1} height={64} />;
  if (servers.isError) return <Failure compact error={servers.error} retry={() => void servers.refetch()} />;
  const all = servers.data;
  return (
    <div className={classes.card}>
      {all.length > 0 && (
        <ul className={classes.servers}>
          {all.map((server) => (
            <ServerRow key={server.name} server={server} />
          ))}
        </ul>
      )}
      {all.length === 0 || adds ? (
        <Paste done={() => setAdds(false)} cancel={all.length > 0} />
      ) : (
        <div>
          <Button variant="default" onClick={() => setAdds(true)}>
            {t("settings.servers.another")}
          </Button>
        </div>
      )}
      <div className={classes.trust}>
        <p className={classes.hint}>{t("settings.servers.trust")}</p>
      </div>
    </div>
  );
}

const example = '{ "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }';

/** The field for what a server's page tells people to paste. */
function Paste({ done, cancel }: { done: () => void; cancel: boolean }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const add = useAddServers();
  const [text, setText] = useState("");
  const problems = add.error?.code === "mcp_paste" ? add.error.problems : [];
  return (
    <form
      className={classes.paste}
      aria-label={t("settings.servers.add")}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        add.mutate(text, {
          onSuccess: ({ names, forgottenAtClose }) => {
            // What was pasted may hold secrets: it does not stay in the page.
            setText("");
            done();
            const added = t("settings.servers.added", { count: names.length, names: names.join(", ") });
            tell(forgottenAtClose.length > 0 ? `${added} ${t("settings.servers.forgotten")}` : added);
          },
          onError: (error) => error.code !== "mcp_paste" && tellError(error),
        });
      }}
    >
      <Textarea
        label={t("settings.servers.paste")}
        description={t("settings.servers.pasteHint")}
        placeholder={example}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: "mono" }}
        value={text}
        error={problems.length > 0}
        aria-describedby={problems.length > 0 ? "servers-problems" : undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          if (add.isError) add.reset();
        }}
      />
      {problems.length > 0 && (
        <div id="servers-problems" role="alert">
          <ul className={classes.problems}>
            {problems.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== "" && <code>{path.replace(/^mcpServers\./, "")}</code>} {sentence(message, null)}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className={classes.buttons}>
        <Button type="submit" disabled={text.trim() === ""} loading={add.isPending}>
          {t("settings.servers.add")}
        </Button>
        {cancel && (
          <Button variant="default" onClick={done}>
            {t("common.cancel")}
          </Button>
        )}
      </div>
    </form>
  );
}
