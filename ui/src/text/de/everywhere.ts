// Der Rundgang, die Befehle und die Tastenkürzel.

import type { Words } from "../words.ts";

export const tour: Words["tour"] = {
  open: "Kurz herumführen",
  place: "Schritt {{number}} von {{count}}",
  back: "Zurück",
  next: "Weiter",
  done: "Anfangen",
  task: { title: "Sagen Sie, was Sie wollen", body: "Schreiben Sie es, wie Sie es einer Kollegin sagen würden, wählen Sie den Ordner mit Ihren Dateien und nennen Sie, was gelten muss. Vieles kann die App selbst prüfen, genau und ohne Token." },
  plan: { title: "Plan lesen, ändern, freigeben", body: "Ein Modell schlägt Schritte vor. Sie sehen, was jeder tut, was er berühren darf und was alles kosten wird. Wünschen Sie Änderungen in Worten oder ändern Sie die Schritte selbst. Ohne Ihre Freigabe beginnt nichts." },
  run: { title: "Zusehen oder weggehen", body: "Jeder Schritt zeigt, was er bekam, was das Modell sagte und was daraus wurde. Halten Sie jederzeit an, beenden Sie oder sagen Sie etwas. Ein Lauf übersteht das Schließen des Fensters." },
  verdict: { title: "Ein Urteil statt einer Vermutung", body: "Jede Bedingung ist erfüllt oder nicht, mit der Stelle, die es zeigt. Was scheitert, wird mit dem Gelernten noch einmal versucht. Jeder Lauf bleibt." },
};

export const palette: Words["palette"] = {
  title: "Befehle",
  open: "Befehle",
  placeholder: "Was möchten Sie tun?",
  none: "Nichts heißt so.",
  groups: { here: "Hier", go: "Gehe zu", window: "Fenster", runs: "Läufe" },
  theme: { system: "Aussehen wie das System", light: "Helles Aussehen", dark: "Dunkles Aussehen" },
  dense: "Listen enger zeigen",
  comfortable: "Listen mit mehr Raum zeigen",
  rail: "Seitenleiste schmal oder breit machen",
  zoomIn: "Alles größer zeigen",
  zoomOut: "Alles kleiner zeigen",
  run: { verdict: "Urteil zeigen", steps: "Schritte zeigen", pause: "Diesen Lauf anhalten", continue: "Diesen Lauf fortsetzen" },
};

export const sheet: Words["sheet"] = {
  title: "Tastenkürzel",
  parts: { everywhere: "Überall", compose: "Beim Schreiben einer Aufgabe", run: "In einem Lauf" },
  names: {
    palette: "Befehle",
    newTask: "Neue Aufgabe",
    home: "Start",
    runs: "Läufe",
    waiting: "Wartet auf Sie",
    settings: "Einstellungen",
    rail: "Seitenleiste",
    zoomIn: "Größer",
    zoomOut: "Kleiner",
    zoomReset: "Übliche Größe",
    sheet: "Diese Übersicht",
    open: "Öffnen",
    save: "Speichern",
    saveAs: "Speichern unter",
    undo: "Rückgängig",
    redo: "Wiederholen",
    nextLine: "Nächste Bedingung",
    send: "Worte senden",
    close: "Schritt schließen",
    resize: "Leiste breiter oder schmaler",
  },
};
