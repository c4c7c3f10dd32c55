// Runs before anything is drawn, because a reader who chose light or dark must not see the other for a moment.
try {
  const theme = localStorage.getItem("hansard-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing follows its system.
}
