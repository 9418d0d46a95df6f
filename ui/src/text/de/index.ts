// Jedes Wort der Oberfläche auf Deutsch, mit den Dateien und Schlüsseln von `en/`. Was fehlt, lässt sich nicht übersetzen.

import type { Words } from "../words.ts";
import { access, effects } from "./access.ts";
import { app, menu, standing } from "./app.ts";
import { common } from "./common.ts";
import { compose } from "./compose.ts";
import { errors } from "./errors.ts";
import { palette, sheet, tour } from "./everywhere.ts";
import { home } from "./home.ts";
import { run } from "./run/index.ts";
import { runs } from "./runs.ts";
import { settings } from "./settings/index.ts";
import { tools } from "./tools.ts";
import { undo } from "./undo.ts";
import { checks, diff, json } from "./values.ts";
import { verdict } from "./verdict.ts";

export const de: Words = {
  app,
  menu,
  common,
  standing,
  home,
  runs,
  run,
  verdict,
  tour,
  palette,
  sheet,
  undo,
  diff,
  json,
  compose,
  checks,
  effects,
  access,
  tools,
  settings,
  errors,
};
