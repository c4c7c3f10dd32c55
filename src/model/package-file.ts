// The files that lie beside the code in its package, found alike from a module of its own and from a bundle of many.

/** By the package's name and not by the place of this module, which a bundle moves. */
export function packageFile(path: string): URL {
  return new URL(path, import.meta.resolve("hansard/package.json"));
}
