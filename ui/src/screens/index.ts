// The screens, one folder each. Home and the list of runs are there at once; the larger ones are read when first opened.

import { lazy } from "react";

export { History } from "./History/index.tsx";
export { Home } from "./Home/index.tsx";
/** The composer. */
export const Compose = lazy(() => import("./Compose/index.tsx").then((module) => ({ default: module.Compose })));
/** A run. */
export const Run = lazy(() => import("./Run/index.tsx").then((module) => ({ default: module.Run })));
/** The settings. */
export const Settings = lazy(() => import("./Settings/index.tsx").then((module) => ({ default: module.Settings })));
