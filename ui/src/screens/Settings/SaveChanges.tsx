// Keep what was changed in a form, or take it back.

import { Button } from "@mantine/core";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

/** The buttons below a form of the settings; none while nothing is changed. The form is submitted by the first. */
export function SaveChanges({ changed, saving, onCancel }: { changed: boolean; saving: boolean; onCancel: () => void }) {
  const t = useText();
  if (!changed) return null;
  return (
    <div className={classes.buttons}>
      <Button type="submit" loading={saving}>
        {t("common.save")}
      </Button>
      <Button variant="default" onClick={onCancel}>
        {t("common.cancel")}
      </Button>
    </div>
  );
}
