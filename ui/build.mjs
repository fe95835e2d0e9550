// Bundles src/ into the one script and the one style sheet that the package holds: node build.mjs [FOLDER]
import { build } from "esbuild";

const folder = process.argv[2] ?? new URL("../src/warroom/view/bundle", import.meta.url).pathname;

await build({
  entryPoints: { app: new URL("src/main.tsx", import.meta.url).pathname },
  outdir: folder,
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: ["chrome123", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  logLevel: "warning",
});
