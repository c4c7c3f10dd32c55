// The list of keyboard shortcuts, opened with `?`.
import { useEffect, useRef } from "react";

const groups = [
  {
    name: "Everywhere",
    keys: [
      ["/", "search"],
      ["j  k", "next, previous"],
      ["Enter", "open"],
      ["g h", "home"],
      ["g s", "sessions"],
      ["g c", "costs"],
      ["g i", "insights"],
      ["g m", "memory"],
      ["g e", "all entries"],
      ["g y", "system"],
      ["?", "keyboard shortcuts"],
    ],
  },
  {
    name: "In a session",
    keys: [
      ["j  k", "next, previous entry"],
      ["]  [", "next, previous turn"],
      ["n  p", "next, previous match or error; continues through all search results"],
      ["e  E", "next, previous error"],
      ["t", "outline of turns"],
      ["f", "find in this session"],
      ["o", "open or close"],
      ["c", "what the model saw"],
      ["m", "propose the selection as a memory"],
      ["y", "copy link"],
      ["g g  G", "beginning, end"],
    ],
  },
  {
    name: "In review",
    keys: [
      ["a", "accept"],
      ["r", "reject, then the number of a reason"],
      ["e", "edit, then accept"],
      ["s", "skip"],
      ["u", "undo"],
    ],
  },
] as const;

export function ShortcutsDialog({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Keyboard shortcuts" className="keys">
      {groups.map(({ name, keys }) => (
        <section key={name}>
          <h2>{name}</h2>
          <dl>
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  {key.split("  ").map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
