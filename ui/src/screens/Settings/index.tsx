// Settings: accounts at providers, a server of one's own, which model does what and what that costs, where runs stop, how the
// window looks, where the data is, what this is.

import type { ReactNode } from "react";
import { useSettings } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Column, Screen } from "../../components/Screen.tsx";
import type { Settings as SettingsValue } from "../../contract/index.ts";
import { useText } from "../../text/index.ts";
import { AboutCard } from "./AboutCard.tsx";
import { AccountCards } from "./AccountCards.tsx";
import { DataCard } from "./DataCard.tsx";
import { LimitsCard } from "./LimitsCard.tsx";
import { LookCard } from "./LookCard.tsx";
import { ModelCard } from "./ModelCard.tsx";
import { ModelFactsCard } from "./ModelFactsCard.tsx";
import { type Part, Parts } from "./Parts.tsx";
import { PermissionsCard } from "./PermissionsCard.tsx";
import { PricesCard } from "./PricesCard.tsx";
import { RolesCard } from "./RolesCard.tsx";
import { SearchCard } from "./SearchCard.tsx";
import { ServersCard } from "./ServersCard.tsx";

/** The settings screen. */
export function Settings() {
  const t = useText();
  const settings = useSettings();
  return (
    <Screen title={t("settings.title")}>
      <Column>
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
  const part = (key: "account" | "model" | "roles" | "prices" | "facts" | "limits" | "permissions" | "servers" | "search" | "look" | "data" | "about", card: ReactNode): Part => ({
    key,
    title: t(`settings.${key}.title`),
    body: t(`settings.${key}.body`),
    card,
  });
  const models = [
    part("account", <AccountCards settings={settings} />),
    part("model", <ModelCard settings={settings} elsewhere={settings.models.planner !== undefined} />),
    part("roles", <RolesCard key={JSON.stringify([settings.models, settings.fallbacks])} settings={settings} />),
    part("prices", <PricesCard key={JSON.stringify(settings.prices)} settings={settings} />),
    part("facts", <ModelFactsCard key={JSON.stringify(settings.overrides)} settings={settings} />),
  ];
  const runs = [
    part("limits", <LimitsCard limits={settings.limits} />),
    part("permissions", <PermissionsCard permissions={settings.permissions} />),
    part("servers", <ServersCard />),
    part("search", <SearchCard service={settings.search ?? null} />),
  ];
  const app = [part("look", <LookCard theme={settings.theme} />), part("data", <DataCard />), part("about", <AboutCard />)];
  return <Parts groups={[models, runs, app]} />;
}
