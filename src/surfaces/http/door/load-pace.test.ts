// The pace of large loads: lists are counted together, single entries never wait, and a failing index fails no capture.
import { expect, test, vi } from "vitest";
import { LoadPace } from "./load-pace.js";

test("a load waits once for every two thousand of its entries, and a single one never does", async () => {
  const keepUp = vi.fn(async () => undefined);
  const pace = new LoadPace({ keepUp });
  for (let nth = 0; nth < 5_000; nth += 1) await pace.recorded(1);
  expect(keepUp).not.toHaveBeenCalled();
  for (let nth = 0; nth < 59; nth += 1) await pace.recorded(100);
  expect(keepUp).toHaveBeenCalledTimes(2);
  await pace.recorded(100);
  expect(keepUp).toHaveBeenCalledTimes(3);
});

test("what fails in the index fails no capture", async () => {
  const keepUp = vi.fn(async () => Promise.reject(new Error("the index is gone")));
  const pace = new LoadPace({ keepUp });
  await pace.recorded(2_000);
  expect(keepUp).toHaveBeenCalledTimes(1);
});
