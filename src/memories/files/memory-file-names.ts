// Which files tell an agent about a project before it begins: memory files of the known tools, and READMEs.

const MEMORY_FILE =
  /(?:^|[\\/])(?:(?:(?:CLAUDE|AGENTS?|GEMINI|QWEN|CRUSH|WARP|CONVENTIONS|CONTRIBUTING)(?:\.(?:local|override))?|MEMORY|README|copilot-instructions)\.(?:md|mdx|txt|rst)|\.cursorrules|\.clinerules|\.windsurfrules|(?:\.cursor[\\/]rules|\.clinerules|memories)[\\/][^\\/]+\.mdc?)$/i;

/** Whether a path names such a file. */
export function isMemoryFile(path: string): boolean {
  return path.length <= 1_000 && MEMORY_FILE.test(path);
}
