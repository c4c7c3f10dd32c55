// The page: the frame, and in it the view that the address names.
import { useEffect, useState } from "react";
import { useAccessAsked } from "./access.js";
import { door } from "./api.js";
import { useKeys } from "./keys.js";
import { LabelsKnown, useLabelsAsked } from "./labels.js";
import { Door } from "./parts/door.js";
import { Frame } from "./parts/frame.js";
import { Guard } from "./parts/guard.js";
import { KeyTable } from "./parts/key-table.js";
import { go, type Place, to, usePlace } from "./router.js";
import { EntryScreen } from "./screens/entry.js";
import { IntegrityScreen } from "./screens/integrity.js";
import { LiveScreen } from "./screens/live.js";
import { Lost } from "./screens/lost.js";
import { MemoriesScreen } from "./screens/memories.js";
import { MemoryScreen } from "./screens/memory.js";
import { ReflectionScreen } from "./screens/reflection.js";
import { ReviewScreen } from "./screens/review.js";
import { SearchScreen } from "./screens/search.js";
import { SessionScreen } from "./screens/session.js";
import { SessionsScreen } from "./screens/sessions.js";
import { useStore } from "./store.js";

export function Page() {
  const place = usePlace();
  const { locked, code } = useStore(door);
  useAccessAsked();
  const [isHelping, setHelping] = useState(false);
  useKeys({
    "/": () => document.querySelector<HTMLInputElement>("#search")?.focus(),
    "?": () => setHelping(true),
    "g r": () => go(to([])),
    "g s": () => go(to(["sessions"])),
    "g f": () => go(to(["reflection"])),
    "g v": () => go(to(["review"])),
    "g m": () => go(to(["memories"])),
    "g i": () => go(to(["integrity"])),
  });
  const [view = ""] = place.parts;
  const labels = useLabelsAsked(place.parts.join("/"));
  useEffect(() => {
    document.title = view === "" ? "Hansard" : `${view.charAt(0).toUpperCase()}${view.slice(1)} · Hansard`;
  }, [view]);
  return (
    <LabelsKnown value={labels}>
      <Frame view={view}>
        {locked ? (
          <Door code={code} />
        ) : (
          <Guard key={place.parts.join("/")}>
            <View place={place} />
          </Guard>
        )}
        {isHelping && <KeyTable close={() => setHelping(false)} />}
      </Frame>
    </LabelsKnown>
  );
}

function View({ place }: { readonly place: Place }) {
  const [view = "", id = ""] = place.parts;
  switch (view) {
    case "":
      return <LiveScreen query={place.query} />;
    case "sessions":
      return id === "" ? <SessionsScreen query={place.query} /> : <SessionScreen key={id} id={id} place={place} />;
    case "entries":
      return <EntryScreen key={id} id={id} />;
    case "search":
      return <SearchScreen query={place.query} />;
    case "reflection":
      return <ReflectionScreen query={place.query} />;
    case "integrity":
      return <IntegrityScreen />;
    case "review":
      return <ReviewScreen />;
    case "memories":
      return id === "" ? <MemoriesScreen query={place.query} /> : <MemoryScreen key={id} id={id} />;
    default:
      return <Lost />;
  }
}
