// An item of a list that is known to be there, where the compiler cannot see that it is.

/** Being wrong about it is a mistake of the program, and ends where it is made. */
export function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined && !(index in list)) throw new RangeError(`no item ${index} in a list of ${list.length}`);
  return item as T;
}
