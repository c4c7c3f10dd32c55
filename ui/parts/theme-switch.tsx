// Theme: light, dark, or as the system is set; the choice is remembered in this browser.
import { useState } from "react";

const KEY = "hansard-theme";
const next = { system: "light", light: "dark", dark: "system" } as const;
type Theme = keyof typeof next;

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => (document.documentElement.dataset.theme as Theme) ?? "system");
  const change = (): void => {
    const chosen = next[theme];
    setTheme(chosen);
    if (chosen === "system") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(KEY);
    } else {
      document.documentElement.dataset.theme = chosen;
      localStorage.setItem(KEY, chosen);
    }
  };
  return (
    <button type="button" className="plain theme" onClick={change} title="Theme: light, dark, or as the system is set">
      {{ system: "Auto", light: "Light", dark: "Dark" }[theme]}
    </button>
  );
}
