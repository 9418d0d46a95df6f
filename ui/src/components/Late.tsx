// Skeletons that appear only when waiting is noticed: after 150 ms.

import { Skeleton, Stack } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useText } from "../text/index.ts";

/** Shows its content once 150 ms have passed. */
export function Late({ children }: { children: ReactNode }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), 150);
    return () => window.clearTimeout(timer);
  }, []);
  return late ? children : null;
}

/** Grey lines in the shape of a list. */
export function ListSkeleton({ rows = 5, height = 44 }: { rows?: number; height?: number }) {
  const t = useText();
  return (
    <Late>
      <Stack gap={8} role="status" aria-label={t("common.loading")}>
        {Array.from({ length: rows }, (_, index) => (
          <Skeleton key={index} height={height} radius={10} />
        ))}
      </Stack>
    </Late>
  );
}
