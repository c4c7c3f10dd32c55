// An item of a list that must exist although the compiler cannot prove it. A missing one is a bug, and throws.

export function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined && !(index in list)) throw new RangeError(`no item ${index} in a list of ${list.length}`);
  return item as T;
}
