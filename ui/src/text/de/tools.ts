// Die Werkzeuge, wie man sagen würde, was sie tun. Was ein Server mitbringt, heißt, wie er es nennt.

import type { Words } from "../words.ts";

export const tools: Words["tools"] = {
  file_read: "Datei lesen",
  file_write: "Datei schreiben",
  file_edit: "Datei ändern",
  file_search: "Dateien durchsuchen",
  directory_list: "Ordner auflisten",
  data_parse: "Daten lesen",
  data_query: "Daten abfragen",
  shell_execute: "Befehl ausführen",
  http_request: "Webadresse fragen",
  web_search: "Im Web suchen",
  scratchpad: "Etwas notieren",
  log_observe: "Etwas mitteilen",
  ask_person: "Sie fragen",
};
