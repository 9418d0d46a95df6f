// A person's own templates, kept by the app.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type HostError, host } from "../host/index.ts";
import { type OwnTemplate, readTemplates, withoutTemplate, withTemplate } from "../state/ownTemplates.ts";

const name = "templates";
const kept = async () => readTemplates((await host.call("draft_get", { name })).value);

/** The templates in the order in which they were made. */
export function useOwnTemplates() {
  return useQuery<OwnTemplate[], HostError>({ queryKey: [name], queryFn: kept });
}

function useChange<Given>(change: (templates: OwnTemplate[], given: Given) => OwnTemplate[]) {
  const client = useQueryClient();
  return useMutation<OwnTemplate[], HostError, Given>({
    mutationFn: async (given) => {
      const templates = change(await kept(), given);
      await host.call("draft_set", { name, value: templates });
      return templates;
    },
    onSuccess: (templates) => client.setQueryData([name], templates),
  });
}

/** Keeps a task as a template, in the place of one with the same title. */
export function useKeepTemplate() {
  return useChange<OwnTemplate>(withTemplate);
}

/** Forgets a template by its title. */
export function useForgetTemplate() {
  return useChange<string>(withoutTemplate);
}
