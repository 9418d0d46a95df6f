// Every word of the interface, in English: a file for each part of it. Kind, exact, second person; sentence case; times
// and numbers with units.

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

export const en = {
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
} as const;
