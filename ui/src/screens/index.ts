// The screens, one folder each.

export { Compose } from "./Compose/index.tsx";
export { History } from "./History/index.tsx";
export { Home } from "./Home/index.tsx";
export { Run } from "./Run/index.tsx";
export { Settings } from "./Settings/index.tsx";
