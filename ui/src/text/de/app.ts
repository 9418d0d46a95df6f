// Der Rahmen des Fensters, und wie es um Läufe steht.

import type { Words } from "../words.ts";

export const app: Words["app"] = {
  name: "Tepa",
  skip: "Zum Inhalt springen",
  navigation: "Hauptmenü",
  collapse: "Seitenleiste schmal machen",
  expand: "Seitenleiste breit machen",
  newTask: "Neue Aufgabe",
  home: "Start",
  runs: "Läufe",
  waiting: "Wartet auf Sie",
  waitingCount_one: "{{count}} Lauf wartet auf Sie",
  waitingCount_other: "{{count}} Läufe warten auf Sie",
  settings: "Einstellungen",
  crash: {
    title: "Diese Ansicht funktioniert nicht mehr",
    body: "Ihre Läufe und Dateien sind sicher; die App bewahrt sie auf, nicht diese Ansicht.",
    reload: "Neu öffnen",
  },
};

export const menu: Words["menu"] = {
  file: "Datei",
  view: "Ansicht",
  help: "Hilfe",
  show: "Tepa zeigen",
  quit: "Tepa beenden",
  running_one: "{{count}} Lauf arbeitet",
  running_other: "{{count}} Läufe arbeiten",
};

export const standing: Words["standing"] = {
  running: "Läuft",
  waiting: "Wartet auf Sie",
  paused: "Angehalten",
  interrupted: "Unterbrochen",
  passed: "Bestanden",
  failed: "Nicht bestanden",
  rejected: "Abgelehnt",
  stopped: "Beendet",
};
