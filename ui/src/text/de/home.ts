// Die Startseite.

import type { Words } from "../words.ts";

export const home: Words["home"] = {
  title: "Start",
  hero: {
    title: "Aufgabe abgeben, Urteil bekommen",
    body: "Sagen Sie, was getan werden soll und woran Sie den Erfolg erkennen. Ein Modell macht einen Plan, Sie geben ihn frei, er arbeitet mit Ihren Dateien, und die Ergebnisse werden an Ihren Bedingungen gemessen.",
    plan: "Ein lesbarer Plan",
    planBody: "Jeder Schritt ist zu sehen, bevor etwas geschieht. Ohne Ihre Freigabe beginnt nichts.",
    run: "Arbeit an echten Dateien",
    runBody: "Nur in dem Ordner, den Sie wählen. Zahlen werden gerechnet, nicht geraten.",
    verdict: "Ein Urteil mit Belegen",
    verdictBody: "Alles, was Sie verlangt haben, wird geprüft. Was nicht stimmt, wird noch einmal versucht.",
    sample: "Beispiel ausprobieren",
    sampleHint: "Ausgaben aus drei Monaten, etwa 400 Zeilen. Ohne Internet, ohne Konto, ohne Schlüssel.",
    connect: "Modell verbinden",
    connectHint: "Anthropic, OpenAI, Gemini, OpenRouter oder ein Server auf diesem Rechner.",
  },
  waiting: "Wartet auf Sie",
  running: "Läuft gerade",
  interrupted: "Unterbrochen",
  recent: "Letzte Läufe",
  all: "Alle Läufe",
  review: "Ansehen",
  stopRun: "{{title}} beenden",
  continue: "Fortsetzen",
  continueRun: "{{title}} fortsetzen",
  interruptedHint: "Die App wurde geschlossen, während dieser Lauf arbeitete. Nichts Fertiges wird noch einmal getan.",
  sample: "Beispiel starten",
  noneRecent: "Hier stehen Läufe, die zu Ende sind.",
};
