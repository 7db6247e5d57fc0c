// What would start it: changes that the scheduler has run, least loss first, each with what it does, what it costs and a
// button that does it.
import { clock, iso } from "../format";
import { closed, quotaForms, verdictOf } from "../pictures/what_if";
import { may } from "../session";
import { WORDS } from "../words";
import { Expected } from "./because";
import { Button, LinkButton } from "./button";
import { Status } from "./status";

// act(fix) -> the button of a change to the workload; ids: {projectId, departmentId} for the quota's forms; never: the
// forecast of what cannot start as asked, where it is said here.
export function Fixes({ title, fixes, at, act, ids, leftOut, never }) {
  return (
    <section>
      <h3>
        {title}
        {at && (
          <>
            {" "}
            <span class="muted">
              (tried by the scheduler at{" "}
              <time datetime={at} data-tip={iso(at)}>
                {clock(at, true)}
              </time>
              )
            </span>
          </>
        )}
      </h3>
      {never && <Expected forecast={never} />}
      {fixes.length ? (
        <ol class="fixes">
          {fixes.map((f, i) => (
            <li key={f.kind + i}>
              <div>
                <b class="strong">{f.sentence}</b>
                <p>
                  <Effect fix={f} />
                </p>
                {f.price && <p class="price">{closed(f.price)}</p>}
              </div>
              <div class="acts">
                {f.kind === "MoreQuota"
                  ? quotaForms(f, ids).map(form => <QuotaButton key={form.word} form={form} />)
                  : act(f)}
              </div>
            </li>
          ))}
        </ol>
      ) : (
        <p class="soft none">{leftOut ? WORDS.notTried : WORDS.noFix}</p>
      )}
    </section>
  );
}

function Effect({ fix }) {
  const { icon, tone, short } = verdictOf(fix);
  return fix.effect ? closed(fix.effect) : <Status phase="v" states={{ v: { icon, tone, word: short } }} />;
}

function QuotaButton({ form: { word, name, href } }) {
  const label = `Quota… of ${word} ${name}`;
  return may("update", word) ? (
    <LinkButton small href={href} label={label}>
      Quota…
    </LinkButton>
  ) : (
    <Button small label={label} why={WORDS.noRight(`update ${word}`)}>
      Quota…
    </Button>
  );
}
