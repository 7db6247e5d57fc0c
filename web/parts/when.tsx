// A moment in a fact or a cell: of today its hour, of this year its day and hour, else its date; the tip has it whole.
import { now } from "../clock";
import { NONE, type Time, iso, time } from "../format";
import type { Column } from "./table";

export const When = ({ at }: { at: Time }) => (at ? <time data-tip={iso(at)}>{time(at, now())}</time> : <>{NONE}</>);

/** A column of moments; a file has them whole. */
export const whenColumn = <R,>(
  id: string,
  label: string,
  at: (row: R) => string | null | undefined,
  more?: Partial<Column<R>>,
): Column<R> => ({
  id,
  label,
  num: true,
  text: r => time(at(r), now()),
  csv: at,
  cell: r => <When at={at(r)} />,
  ...more,
});
