// Rules for the runs of a task: when to ask, what never to use, when to stop. Each is a line with its few details in place.

import { ActionIcon, Button, Menu, MultiSelect, Select, Switch, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useTools } from "../../api/settings.ts";
import { NumberField } from "../../components/NumberField.tsx";
import { useCompose } from "../../state/compose.ts";
import { boundOf, freshRule, kindOfRule, percent, places, placesOf, reachingKinds, type RuleKind, ruleKinds, toolOfRule } from "../../state/rules.ts";
import { insertAt, type Path, setAt } from "../../state/taskSource.ts";
import { toolChoices } from "../../state/toolName.ts";
import { useText } from "../../text/index.ts";
import { Problems } from "./problems.tsx";
import classes from "./Rules.module.css";

/** The rules, and what adds one. */
export function Rules({ rules }: { rules: readonly unknown[] }) {
  const t = useText();
  const { change, rulesAllowed, allowRules } = useCompose();
  const tools = (useTools().data ?? []).map(({ name }) => name);
  const writer = tools.find((name) => name === "file_write") ?? tools[0] ?? "file_write";
  const deciding = rules.filter((rule) => !reaches(rule)).length;
  const add = (kind: RuleKind) => {
    change((source) => insertAt(source, ["hooks"], rules.length, freshRule(kind, writer)));
    // Whoever writes a rule here wants it; those that a file brings wait for a person. What does something by itself is
    // allowed for itself, once it is written.
    if (deciding === 0 && !reachingKinds.includes(kind)) allowRules(true);
  };
  return (
    <>
      {rules.length > 0 && (
        <div className={classes.rules}>
          <ul>
            {rules.map((rule, index) => (
              <li key={index}>
                <Line rule={rule} path={["hooks", index]} tools={tools} />
                <ActionIcon
                  size={26}
                  aria-label={t("compose.rules.remove", { number: index + 1 })}
                  onClick={() => change((source) => setAt(source, rules.length === 1 ? ["hooks"] : ["hooks", index], undefined))}
                >
                  <IconX size={14} stroke={1.6} />
                </ActionIcon>
              </li>
            ))}
          </ul>
          {deciding > 0 && <Switch
            className={classes.allow ?? ""}
            label={t("compose.rules.allow")}
            description={rulesAllowed ? undefined : t("compose.rules.off")}
            checked={rulesAllowed}
            onChange={(event) => allowRules(event.currentTarget.checked)}
          />}
        </div>
      )}
      <Problems place="hooks" below />
      <Menu position="bottom-start" width={300}>
        <Menu.Target>
          <Button className={classes.add ?? ""} variant="subtle" color="gray" size="xs" leftSection={<IconPlus size={14} stroke={1.8} />}>
            {t("compose.rules.add")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ruleKinds.filter((kind) => !reachingKinds.includes(kind)).map((kind) => (
            <Menu.Item key={kind} onClick={() => add(kind)}>
              {t(`compose.rules.offer.${kind}`)}
            </Menu.Item>
          ))}
          <Menu.Label>{t("compose.rules.advanced")}</Menu.Label>
          {reachingKinds.map((kind) => (
            <Menu.Item key={kind} onClick={() => add(kind)}>
              {t(`compose.rules.offer.${kind}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** Whether a rule does something by itself. */
function reaches(rule: unknown): boolean {
  const kind = kindOfRule(rule);
  return kind !== null && reachingKinds.includes(kind);
}

function Line({ rule, path, tools }: { rule: unknown; path: Path; tools: readonly string[] }) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const kind = kindOfRule(rule);
  const set = (place: Path, value: unknown) => change((source) => setAt(source, [...path, ...place], value));
  if (kind === null) return <span className={classes.unknown}>{t("compose.rules.unknown")}</span>;
  const words = t(`compose.rules.line.${kind}`);
  switch (kind) {
    case "askPlan":
    case "askStep":
      return <span>{words}</span>;
    case "askTool":
    case "forbid":
      return (
        <>
          <span>{words}</span>
          <Select
            size="xs"
            aria-label={words}
            allowDeselect={false}
            searchable
            data={toolChoices([...tools, toolOfRule(rule)], t)}
            value={toolOfRule(rule)}
            onChange={(tool) => tool && set(kind === "forbid" ? ["forbid"] : ["askMe", "tool"], tool)}
          />
        </>
      );
    case "maxSteps":
      return (
        <>
          <span>{words}</span>
          <Whole label={words} value={(rule as { maxSteps: number }).maxSteps} min={1} max={1000} set={(value) => set(["maxSteps"], value)} />
        </>
      );
    case "command":
    case "webhook": {
      const field = kind === "command" ? "run" : "url";
      const written = (rule as Record<string, Record<string, unknown>>)[kind]?.[field];
      return (
        <div className={classes.reaching}>
          <TextInput
            size="xs"
            aria-label={words}
            placeholder={t(`compose.rules.placeholder.${kind}`)}
            classNames={{ input: "mono" }}
            value={typeof written === "string" ? written : ""}
            onChange={(event) => set([kind, field], event.currentTarget.value)}
          />
          <MultiSelect
            size="xs"
            aria-label={`${words}: ${t("compose.rules.when")}`}
            data={places.map((place) => ({ value: place, label: t(`effects.when.${place}`) }))}
            value={placesOf(rule)}
            onChange={(chosen) => set([kind, "on"], chosen)}
          />
        </div>
      );
    }
    case "stop":
    case "accept": {
      const bound = boundOf((rule as Record<string, unknown>)[kind]);
      if (!bound) return null;
      return (
        <>
          <span>{words}</span>
          <Select
            size="xs"
            w={96}
            aria-label={`${words}: ${t("compose.rules.side")}`}
            allowDeselect={false}
            data={(["below", "above"] as const).map((side) => ({ value: side, label: t(`compose.rules.sides.${side}`) }))}
            value={bound.side}
            onChange={(side) => side && set([kind], { [side]: bound.value })}
          />
          <Whole label={`${words}: ${t("compose.rules.percent")}`} value={percent(bound.value)} min={0} max={100} suffix=" %" set={(value) => set([kind, bound.side], value / 100)} />
        </>
      );
    }
  }
}

function Whole({ label, value, min, max, suffix, set }: { label: string; value: number; min: number; max: number; suffix?: string; set: (value: number) => void }) {
  return (
    <NumberField
      size="xs"
      w={84}
      aria-label={label}
      whole
      needed
      min={min}
      max={max}
      {...(suffix === undefined ? {} : { rightSection: suffix })}
      value={value}
      onChange={(typed) => typed !== null && set(typed)}
    />
  );
}
