// An address that leads nowhere.
import { Empty } from "../parts/notice.js";
import { Link, to } from "../router.js";

export function Lost() {
  return (
    <Empty title="Page not found">
      <p>
        <Link to={to([])}>The record</Link> and <Link to={to(["sessions"])}>the sessions</Link> are where they were.
      </p>
    </Empty>
  );
}
