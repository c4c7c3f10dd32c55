// Builds the page below /ui/: one script, one stylesheet, and the files of public/ as they are.
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    // The content security policy forbids inline content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
  },
});
