// How the page is built: one script, one stylesheet, and the files of public/ as they are, all below /ui/.
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    // Written out by the policy of the server: nothing inside the document, everything from the server itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
  },
});
