// Was ein Lauf berühren darf, und was eine Aufgabe von sich aus tut.

import type { Words } from "../words.ts";

export const access: Words["access"] = {
  read: "Lesen",
  write: "Lesen und ändern",
  scratchpad: "der Notizzettel",
  execute: "Den Befehl ausführen",
  network: "Das Netz in Befehlen benutzen, an",
  anywhere: "jeder Adresse",
  ask: "Lesen von",
  send: "Etwas senden an",
  server: "Vom MCP-Server {{server}} benutzen das Werkzeug",
  servers: "Den MCP-Server benutzen",
  search: "Im Web suchen bei",
};

export const effects: Words["effects"] = {
  title: "Was sie von selbst tut",
  intro: "Die Aufgabe bringt Befehle oder Webadressen mit. Jedes ist aus, bis Sie genau das erlauben, was hier steht; was Sie jetzt nicht erlauben, fragt der Lauf, bevor er beginnt.",
  allow: "Erlauben",
  kept: "Für diese Aufgabe erlaubt",
  refused: "Verlangt und nicht erlaubt, also nicht getan:",
  check: "Zum Prüfen der Ergebnisse den Befehl ausführen",
  command: "{{when}}: was geschieht, an den Befehl geben",
  webhook: "{{when}}: was geschieht, senden an",
  when: {
    prePlanner: "Vor dem Planen",
    postPlanner: "Nach dem Planen",
    preExecutor: "Vor den Schritten",
    preStep: "Vor jedem Schritt",
    postStep: "Nach jedem Schritt",
    postExecutor: "Nach den Schritten",
    preEvaluator: "Vor dem Prüfen",
    postEvaluator: "Nach dem Prüfen",
  },
};
