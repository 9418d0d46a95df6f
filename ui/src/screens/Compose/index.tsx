export function Compose() { return null; }
