// Files by which systemd and launchd start `hansard watch` with a user's session.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { placeVariables } from "../../../index.js";

export const unitKinds = ["systemd", "launchd"] as const;

interface Unit {
  readonly kind: (typeof unitKinds)[number];
  readonly paths: readonly string[];
  readonly data: string;
}

const NAME = "hansard-watch";

export function unitText({ kind, paths, data }: Unit): string {
  const program = [process.execPath, realpathSync(process.argv[1] ?? "")];
  const args = [...program, "watch", "--data", data, ...paths.map((path) => resolve(path))];
  // They say where tools keep their files, and are not known where a session is started.
  const variables = placeVariables().flatMap((name): readonly [string, string][] => {
    const value = process.env[name] ?? "";
    return value === "" ? [] : [[name, value]];
  });
  return kind === "systemd" ? systemdText(args, variables) : plistText(args, variables);
}

function systemdText(args: readonly string[], variables: readonly (readonly [string, string])[]): string {
  const environment = variables.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`).join("");
  return `# ~/.config/systemd/user/${NAME}.service
# systemctl --user daemon-reload && systemctl --user enable --now ${NAME}
[Unit]
Description=Hansard keeps reading what coding agents write

[Service]
ExecStart=${args.map((arg) => quoted(arg.replaceAll("$", "$$$$"))).join(" ")}
${environment}Restart=on-failure
RestartSec=5
Nice=10

[Install]
WantedBy=default.target
`;
}

/** As systemd reads it: in quotes, with its own signs escaped. */
function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%");
  return `"${escaped}"`;
}

function plistText(args: readonly string[], variables: readonly (readonly [string, string])[]): string {
  const items = args.map((arg) => `    <string>${xml(arg)}</string>\n`).join("");
  const pairs = variables
    .map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>\n`)
    .join("");
  const environment = pairs === "" ? "" : `  <key>EnvironmentVariables</key>\n  <dict>\n${pairs}  </dict>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ~/Library/LaunchAgents/${NAME}.plist, then: launchctl load ~/Library/LaunchAgents/${NAME}.plist -->
<plist version="1.0">
<dict>
  <key>Label</key><string>${NAME}</string>
  <key>ProgramArguments</key>
  <array>
${items}  </array>
${environment}  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
