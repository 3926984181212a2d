import { defineConfig } from "vite";

// One script and one style sheet with fixed names, so that an exported page can hold both.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/kinetarium/studio/page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "assets/studio.js",
        assetFileNames: "assets/studio[extname]",
      },
    },
  },
});
