// What would start it: changes that the scheduler has run, least loss first, each with what it does, what it costs and a
// button that does it.
import type { ComponentChildren } from "preact";
import { clock, iso } from "../format";
import { closed, quotaForms, verdictOf } from "../pictures/what_if";
import { may } from "../session";
import type { Forecast, WhatIfAnswer, WhatIfFix } from "../types";
import { WORDS } from "../words";
import { Expected } from "./because";
import { Button, LinkButton } from "./button";
import { Status } from "./status";

interface FixesProps {
  title: string;
  fixes: WhatIfFix[];
  at?: string | null;
  act: (fix: WhatIfFix) => ComponentChildren;
  ids: { projectId: string; departmentId: string };
  leftOut?: boolean;
  never?: Forecast;
}

// act(fix) -> the button of a change to the workload; ids: {projectId, departmentId} for the quota's forms; never: the
// forecast of what cannot start as asked, where it is said here.
export function Fixes({ title, fixes, at, act, ids, leftOut, never }: FixesProps) {
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

function Effect({ fix }: { fix: WhatIfFix }) {
  const { icon, tone, short } = verdictOf({ verdict: fix.verdict as WhatIfAnswer["verdict"] });
  return fix.effect ? closed(fix.effect) : <Status phase="v" states={{ v: { icon, tone, word: short } }} />;
}

function QuotaButton({ form: { word, name, href } }: { form: ReturnType<typeof quotaForms>[number] }) {
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
