// Was ein Lauf einen Menschen fragt, während er arbeitet.

import type { Words } from "../../words.ts";

export const questions: Words["run"]["questions"] = {
  count_one: "{{count}} Frage wartet auf Sie",
  count_other: "{{count}} Fragen warten auf Sie",
  plan: "Plan von Zyklus {{number}}",
  effect: "Was die Aufgabe von selbst tut",
  aloud: { plan: "darf der Plan laufen?", step: "darf „{{step}}“ laufen?", permission: "darf er {{wants}}?", effect: "darf die Aufgabe etwas von selbst tun?" },
  allowAll: "Alle {{count}} laufen lassen",
};

export const stepQuestion: Words["run"]["stepQuestion"] = {
  title: "Darf dieser Schritt laufen?",
  rule: "Sie wollten gefragt werden: {{rule}}",
  allow: "Laufen lassen",
  reject: "Ablehnen",
  onNode: "Darf er laufen?",
};

export const gate: Words["run"]["gate"] = {
  title: "Der Ablauf fragt Sie",
  stepTitle: "Dieser Schritt fragt Sie",
  onNode: "Er fragt Sie",
  noAnswer: "Nicht antworten",
  yes: "Ja, weiter",
  no: "Nein",
  refuse: "Lauf beenden",
  send: "Antwort senden",
  answer: "Ihre Antwort",
  asJson: "Als JSON geschrieben, wie der Ablauf es beschreibt.",
  notJson: "Das ist noch kein JSON.",
};

export const permission: Words["run"]["permission"] = {
  title: "Darf dieser Schritt das?",
  body: "„{{step}}“ möchte „{{tool}}“ benutzen. Es geht weiter, wenn Sie es sagen.",
  once: "Einmal erlauben",
  no: "Nein",
  run: "In diesem Lauf erlauben",
  runHint: "Nach demselben wird bis zum Ende des Laufs nicht mehr gefragt.",
  task: "Für diese Aufgabe immer erlauben",
  taskHint: "In jedem ihrer Läufe, bis Sie es in den Einstellungen zurücknehmen.",
  why: "Warum nicht?",
  whyHint: "Der nächste Plan erfährt es und sucht einen anderen Weg.",
  refuse: "Nicht erlauben",
  onNode: "Darf er das?",
};

export const effect: Words["run"]["effect"] = {
  title: {
    check: "Darf die Aufgabe diesen Befehl ausführen?",
    command: "Darf die Aufgabe diesen Befehl ausführen?",
    webhook: "Darf die Aufgabe dieser Adresse Bescheid geben?",
  },
  body: "Die Aufgabe bringt es mit. Nichts davon geschieht, bis Sie genau das erlauben; ändert sich ein Buchstabe, werden Sie wieder gefragt.",
  reaches: {
    check: "Er arbeitet im Ordner der Aufgabe und kann sonst nichts ändern.",
    command: "Er arbeitet im Ordner der Aufgabe und kann sonst nichts ändern. Er erfährt die Aufgabe, ihre Pläne und Ergebnisse und darf sie ändern.",
    webhook: "Die Adresse bekommt die Aufgabe, ihre Pläne und Ergebnisse und darf sie ändern.",
  },
  without: {
    check: "Ohne ihn weiß niemand, ob dieses Kriterium erfüllt ist, und der Lauf kann nicht bestehen.",
    command: "Ohne ihn geht der Lauf weiter, und diese Regel gilt nicht.",
    webhook: "Ohne sie geht der Lauf weiter, und die Adresse erfährt nichts.",
  },
  taskHint: "In jedem ihrer Läufe, solange dies so bleibt, bis Sie es in den Einstellungen zurücknehmen.",
  before: "Erst eine Frage",
  beforeBody: "Geplant wird, wenn Sie geantwortet haben.",
};

export const uncertain: Words["run"]["uncertain"] = {
  file: {
    title: "Wurde „{{path}}“ geschrieben?",
    body: "Der Schritt „{{step}}“ änderte gerade diese Datei, als die App geschlossen wurde oder die Zeit des Werkzeugs um war. Ob die Änderung geschah, lässt sich nicht sicher sagen. Sehen Sie nach und entscheiden Sie dann.",
    markDoneHint: "Die Datei so lassen und weitergehen.",
    runAgainHint: "Die Datei neu schreiben.",
  },
  outside: {
    title: "Wurde „{{path}}“ erledigt?",
    body: "Der Schritt „{{step}}“ hatte damit begonnen, als die App geschlossen wurde oder die Zeit des Werkzeugs um war, und die App kann nicht nachsehen, ob es geschah. Sehen Sie nach und entscheiden Sie dann.",
    markDoneHint: "Weitergehen, als wäre es erledigt.",
    runAgainHint: "Es noch einmal tun.",
  },
  markDone: "Es ist getan",
  runAgain: "Noch einmal tun",
  stopRun: "Lauf beenden",
};
