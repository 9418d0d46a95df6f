// Settings, keys and what the app says about itself.

import { useMantineColorScheme } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import type {
  AppInfo,
  CheckInfo,
  FolderInfo,
  FoundServer,
  KeyInfo,
  ProviderInfo,
  ProviderModels,
  ProviderTest,
  SearchKinds,
  SearchTest,
  Settings,
  TaskGrant,
  TestProvider,
  ToolInfo,
  WidenModel,
  WideModel,
} from "../contract/index.ts";
import { type HostError, host, type Reply } from "../host/index.ts";
import { isPlain } from "../state/connection.ts";
import { useLanguage } from "../text/index.ts";
import { checkIn } from "../text/named.ts";
import { keeping, type Sealed } from "./keeping.ts";

/** The account under which the key of the one endpoint is kept. */
export const endpointAccount = "openai_compatible";

/** The kinds of providers, in the order in which they are shown. */
export function useProviders() {
  return useQuery<ProviderInfo[], HostError>({
    queryKey: ["providers"],
    queryFn: async () => (await host.call("providers_list", null)).providers,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The app's version and data folder. */
export function useAppInfo() {
  return useQuery<AppInfo, HostError>({ queryKey: ["app"], queryFn: () => host.call("app_info", null), staleTime: Number.POSITIVE_INFINITY });
}

/** How many bytes the data has. */
export function useDataSize() {
  return useQuery<number, HostError>({ queryKey: ["data"], queryFn: async () => (await host.call("data_size", null)).bytes });
}

/** Copies all data into a folder that a person picks; null when they changed their mind. */
export function useBackUp() {
  return useMutation<Reply<"data_back_up"> | null, HostError, string>({
    mutationFn: async (pickTitle) => {
      const folder = await host.pickFolder(pickTitle);
      return folder === null ? null : host.call("data_back_up", { folder });
    },
  });
}

/** Saves facts about the app for somebody who helps; null when a person changed their mind. */
export function useSaveDiagnostics() {
  return useMutation<Reply<"diagnostics_save"> | null, HostError, string>({
    mutationFn: async (pickTitle) => {
      const path = await host.saveFileAs("tepa-diagnostics.zip", pickTitle, "report");
      // The system's own picker has asked about a file that is there.
      return path === null ? null : host.call("diagnostics_save", { path, replace: true });
    },
  });
}

/** Everything that can be set, except keys. */
export function useSettings() {
  return useQuery<Settings, HostError>({ queryKey: ["settings"], queryFn: () => host.call("settings_get", null), staleTime: Number.POSITIVE_INFINITY });
}

/** Changes settings; what is not given stays. */
export function useSaveSettings() {
  const client = useQueryClient();
  return useMutation<Settings, HostError, Partial<Settings>>({
    mutationFn: async (change) => {
      const now = await client.ensureQueryData<Settings>({ queryKey: ["settings"], queryFn: () => host.call("settings_get", null) });
      return host.call("settings_set", { ...now, ...change });
    },
    onSuccess: (settings) => {
      client.setQueryData(["settings"], settings);
      // What is known of models stands in the settings too. Not waited for: a form that is laid anew meanwhile would never
      // hear that it was saved.
      void client.invalidateQueries({ queryKey: ["models"] });
      // So does whether there is a search.
      void client.invalidateQueries({ queryKey: ["tools"] });
    },
  });
}

/** What is known of the models of every account, without asking anybody. */
export function useModels() {
  return useQuery<ProviderModels[], HostError>({
    queryKey: ["models"],
    queryFn: async () => (await host.call("models_list", { refresh: false })).accounts,
  });
}

/** Asks every account for its models and their prices. */
export function useRefreshModels() {
  const client = useQueryClient();
  return useMutation<{ accounts: ProviderModels[]; atMs: number }, HostError, void>({
    mutationFn: async () => ({ accounts: (await host.call("models_list", { refresh: true })).accounts, atMs: Date.now() }),
    onSuccess: ({ accounts }) => client.setQueryData(["models"], accounts),
  });
}

/** Model servers that answer on this computer. */
export function useFoundServers() {
  return useQuery<FoundServer[], HostError>({
    queryKey: ["servers"],
    queryFn: async () => (await host.call("servers_find", null)).servers,
    staleTime: 30_000,
  });
}

/** Sets a copy of an Ollama model up that reads enough. */
export function useWidenModel() {
  return useMutation<WideModel, HostError, WidenModel>({ mutationFn: (request) => host.call("model_widen", request) });
}

/** What was allowed for every run of a task, newest first. */
export function useGrants() {
  return useQuery<TaskGrant[], HostError>({ queryKey: ["grants"], queryFn: () => host.call("grants_list", null) });
}

/** Takes one of these back. */
export function useRevokeGrant() {
  const client = useQueryClient();
  return useMutation<unknown, HostError, number>({
    mutationFn: (id) => host.call("grant_revoke", { id }),
    onSettled: () => client.invalidateQueries({ queryKey: ["grants"] }),
  });
}

/** Makes the window light, dark or as the system has it. */
export function useApplyTheme(): void {
  const { setColorScheme } = useMantineColorScheme();
  const theme = useSettings().data?.theme;
  useEffect(() => {
    if (theme) setColorScheme(theme === "system" ? "auto" : theme);
  }, [theme, setColorScheme]);
}

/** What may be shown of the stored key of an account; null when there is none. */
export function useKeyInfo(account: string) {
  return useQuery<KeyInfo | null, HostError>({ queryKey: ["key", account], queryFn: () => host.call("key_info", { account }) });
}

/**
 * Puts a key into the keychain, for the server at this address, or keeps it until the app is closed. It cannot be read back.
 */
export function useSetKey(account: string, baseUrl: string | null = null, untilClose = false) {
  const client = useQueryClient();
  return useMutation<KeyInfo, HostError, Sealed>({
    ...keeping((key) => host.call("key_set", { account, key, baseUrl, plain: isPlain(baseUrl), ...(untilClose && { untilClose }) })),
    onSuccess: (info) => {
      client.setQueryData(["key", account], info);
      // A search needs its key to be there.
      void client.invalidateQueries({ queryKey: ["tools"] });
    },
  });
}

/** Takes the key out of the keychain. */
export function useDeleteKey(account: string) {
  const client = useQueryClient();
  return useMutation<unknown, HostError, void>({
    mutationFn: () => host.call("key_delete", { account }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["key", account] }),
  });
}

/** Asks a server whether it answers. */
export function useTestProvider() {
  const client = useQueryClient();
  return useMutation<ProviderTest, HostError, TestProvider>({
    mutationFn: async (request) => {
      const tested = await host.call("provider_test", request);
      // An account that was asked for no model: the models that it has are what a person wants to know.
      const { provider } = request;
      if (tested.remedy !== "model" || !provider || request.model !== "") return tested;
      const { accounts } = await host.call("models_list", { refresh: true });
      return { ...tested, models: accounts.find((account) => account.provider === provider)?.models.map(({ id }) => id) ?? [] };
    },
    // What the server said about its models is known from now on.
    onSuccess: () => client.invalidateQueries({ queryKey: ["models"] }),
  });
}

/** The kinds of search services, and the account of their key. */
export function useSearchKinds() {
  return useQuery<SearchKinds, HostError>({ queryKey: ["search"], queryFn: () => host.call("search_kinds", null), staleTime: Number.POSITIVE_INFINITY });
}

/** Asks the search service that is set up once. */
export function useTestSearch() {
  return useMutation<SearchTest, HostError, void>({ mutationFn: () => host.call("search_test", null) });
}

/** The checks that a criterion can name, in the language of the window. */
export function useChecks() {
  const language = useLanguage();
  const spoken = useCallback((checks: CheckInfo[]) => checks.map((check) => checkIn(language, check)), [language]);
  return useQuery<CheckInfo[], HostError>({
    queryKey: ["checks"],
    queryFn: async () => (await host.call("checks_list", null)).checks,
    staleTime: Number.POSITIVE_INFINITY,
    select: spoken,
  });
}

/** The tools that a plan can use. */
export function useTools() {
  return useQuery<ToolInfo[], HostError>({
    queryKey: ["tools"],
    queryFn: async () => (await host.call("tools_list", null)).tools,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What is in a folder, at a glance. */
export function useFolder(path: string | null) {
  return useQuery<FolderInfo, HostError>({
    queryKey: ["folder", path],
    queryFn: () => host.call("folder_info", { path: path ?? "" }),
    enabled: path !== null,
    // It may have been moved, or made, in another program meanwhile.
    refetchOnWindowFocus: "always",
  });
}
