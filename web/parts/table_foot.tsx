// Under a table: which rows these are, what is new, how many a page holds, and the pages.
import { count, plural } from "../format";
import { Icon } from "../icons";
import { setQuery } from "../router";
import { Button } from "./button";
import type { List } from "./table_rows";

export const SIZES = [20, 50, 100];

interface FootProps<R> {
  list: List<R>;
  page: number;
  size: number;
  number: number;
}

/** The foot of a table. */
export function Foot<R>({ list, page, size, number }: FootProps<R>) {
  const first = (page - 1) * size + 1;
  const gone = list.left?.size ?? 0;
  const news = [list.news ? plural(list.news, "new row") : "", gone ? `${gone} gone or moved` : ""]
    .filter(Boolean)
    .join(", ");
  const last = list.total !== undefined && first + size > list.total;
  return (
    <div class="table-foot">
      <span>
        {number > gone
          ? `${count(first)}–${count(first + number - gone - 1)} ${list.isMore ? "and more" : `of ${count(list.total)}`}`
          : ""}
      </span>
      <span class="news" role="status">
        {news && (
          <>
            {news} ·{" "}
            <button type="button" class="link" onClick={list.show}>
              Show
            </button>
          </>
        )}
      </span>
      <span class="grow" />
      {list.error && number > 0 && (
        <span class="st bad" data-tip={list.error.message}>
          <Icon name="x" />
          Not refreshed
        </span>
      )}
      <label class="rows">
        Rows{" "}
        <select value={size} onChange={e => setQuery({ rows: e.currentTarget.value, page: null })}>
          {SIZES.map(s => (
            <option key={s} value={s}>
              {s}
            </option>
          ))}
        </select>
      </label>
      <Button
        small
        why={page === 1 ? "This is the first page." : ""}
        onClick={() => setQuery({ page: page > 2 ? page - 1 : null })}
      >
        Back
      </Button>
      <Button small why={last ? "This is the last page." : ""} onClick={() => setQuery({ page: page + 1 })}>
        Next
      </Button>
    </div>
  );
}
