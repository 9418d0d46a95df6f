// Settings: accounts at providers, a server of one's own, which model does what and what that costs, where runs stop, how the
// window looks, where the data is, what this is.

import { LanguageAndSize } from "./LanguageAndSize.tsx";
import { SegmentedControl } from "@mantine/core";
import type { ReactNode } from "react";
import { useSaveSettings, useSettings } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Column, Screen } from "../../components/Screen.tsx";
import { tellError } from "../../components/toast.tsx";
import type { Settings as SettingsValue, Theme } from "../../contract/index.ts";
import { usePreferences } from "../../state/preferences.ts";
import { useText } from "../../text/index.ts";
import { AboutCard } from "./AboutCard.tsx";
import { AccountCards } from "./AccountCards.tsx";
import { DataCard } from "./DataCard.tsx";
import { LimitsCard } from "./LimitsCard.tsx";
import { ModelCard } from "./ModelCard.tsx";
import { ModelFactsCard } from "./ModelFactsCard.tsx";
import { PermissionsCard } from "./PermissionsCard.tsx";
import { PricesCard } from "./PricesCard.tsx";
import { RolesCard } from "./RolesCard.tsx";
import { SearchCard } from "./SearchCard.tsx";
import { ServersCard } from "./ServersCard.tsx";
import classes from "./Settings.module.css";

const themes: readonly Theme[] = ["system", "light", "dark"];

/** The settings screen. */
export function Settings() {
  const t = useText();
  const settings = useSettings();
  return (
    <Screen title={t("settings.title")}>
      <Column narrow>
        {settings.isPending ? (
          <ListSkeleton rows={4} height={120} />
        ) : settings.isError ? (
          <Failure error={settings.error} retry={() => void settings.refetch()} />
        ) : (
          <Cards settings={settings.data} />
        )}
      </Column>
    </Screen>
  );
}

function Cards({ settings }: { settings: SettingsValue }) {
  const t = useText();
  return (
    <div className={classes.cards}>
      <Group title={t("settings.account.title")} body={t("settings.account.body")}>
        <AccountCards settings={settings} />
      </Group>
      <Group title={t("settings.model.title")} body={t("settings.model.body")}>
        <ModelCard settings={settings} elsewhere={settings.models.planner !== undefined} />
      </Group>
      <Group title={t("settings.roles.title")} body={t("settings.roles.body")}>
        <RolesCard key={JSON.stringify([settings.models, settings.fallbacks])} settings={settings} />
      </Group>
      <Group title={t("settings.prices.title")} body={t("settings.prices.body")}>
        <PricesCard key={JSON.stringify(settings.prices)} settings={settings} />
      </Group>
      <Group title={t("settings.facts.title")} body={t("settings.facts.body")}>
        <ModelFactsCard key={JSON.stringify(settings.overrides)} settings={settings} />
      </Group>
      <Group title={t("settings.limits.title")} body={t("settings.limits.body")}>
        <LimitsCard limits={settings.limits} />
      </Group>
      <Group title={t("settings.permissions.title")} body={t("settings.permissions.body")}>
        <PermissionsCard permissions={settings.permissions} />
      </Group>
      <Group title={t("settings.servers.title")} body={t("settings.servers.body")}>
        <ServersCard />
      </Group>
      <Group title={t("settings.search.title")} body={t("settings.search.body")}>
        <SearchCard service={settings.search ?? null} />
      </Group>
      <Group title={t("settings.look.title")} body={t("settings.look.body")}>
        <div className={classes.look}>
          <ThemeChoice theme={settings.theme} />
          <DensityChoice />
          <LanguageAndSize />
        </div>
      </Group>
      <Group title={t("settings.data.title")} body={t("settings.data.body")}>
        <DataCard />
      </Group>
      <Group title={t("settings.about.title")} body={t("settings.about.body")}>
        <AboutCard />
      </Group>
    </div>
  );
}

function Group({ title, body, children }: { title: string; body: string; children: ReactNode }) {
  return (
    <section className={classes.group} aria-label={title}>
      <div className={classes.about}>
        <h2>{title}</h2>
        <p>{body}</p>
      </div>
      <div className={classes.card}>{children}</div>
    </section>
  );
}

function ThemeChoice({ theme }: { theme: Theme }) {
  const t = useText();
  const save = useSaveSettings();
  return (
    <SegmentedControl
      aria-label={t("settings.look.label")}
      value={theme}
      onChange={(value) => save.mutate({ theme: themes.find((one) => one === value) ?? "system" }, { onError: tellError })}
      data={themes.map((value) => ({ value, label: t(`settings.look.${value}`) }))}
    />
  );
}

/** How close together lists stand. It is about this window, and is kept by it. */
function DensityChoice() {
  const t = useText();
  const { dense, setDense } = usePreferences();
  return (
    <SegmentedControl
      aria-label={t("settings.look.density")}
      value={dense ? "dense" : "room"}
      onChange={(value) => setDense(value === "dense")}
      data={[
        { value: "room", label: t("settings.look.room") },
        { value: "dense", label: t("settings.look.dense") },
      ]}
    />
  );
}
