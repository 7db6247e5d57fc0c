// Keeps the form's fields as an asset of the project, to be loaded again: a compute resource or an environment.
import { useState } from "preact/hooks";
import { post } from "../api";
import { refreshAll } from "../live";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Problem, TextField, useForm } from "../parts/form";
import { toast } from "../parts/toast";
import { may } from "../session";
import type { Body } from "../types";
import { WORDS } from "../words";

const KINDS = {
  compute: { word: "compute resource", right: "compute-resources" },
  environment: { word: "environment", right: "environments" },
};

type Kind = keyof typeof KINDS;
interface AssetProps {
  kind: Kind;
  project?: { id: string; name: string };
  onSaved: (id: string) => void;
}
interface SaveProps extends AssetProps {
  spec: () => object;
  why?: string;
}

// onSaved(id): the form takes it as the chosen one.
export function SaveAsset({ kind, project, spec, why, onSaved }: SaveProps) {
  const [open, setOpen] = useState(false);
  const { word, right } = KINDS[kind];
  const reason = !may("create", right) ? WORDS.noRight(`create ${right}`) : !project ? "Choose a project first." : why;
  return (
    <>
      <Button small kind="quiet" icon="save" why={reason} onClick={() => setOpen(true)}>
        {kind === "compute" ? "Save as asset" : `Save as ${word}`}
      </Button>
      {open && project && (
        <Ask kind={kind} word={word} project={project} spec={spec()} onSaved={onSaved} close={() => setOpen(false)} />
      )}
    </>
  );
}

interface AskProps extends AssetProps {
  word: string;
  project: { id: string; name: string };
  spec: object;
  close: () => void;
}

function Ask({ kind, word, project, spec, onSaved, close }: AskProps) {
  const send = async (values: { name: string; description: string }) => {
    const body = {
      meta: {
        name: values.name,
        ...(values.description ? { description: values.description } : {}),
        scope: "project",
        projectId: project.id,
      },
      spec,
    };
    const made = await post(
      `/api/v1/asset/${kind}`,
      body as Body<"/api/v1/asset/compute", "post"> & Body<"/api/v1/asset/environment", "post">,
    );
    onSaved(made.meta.id);
    refreshAll();
    toast(`The ${word} ${values.name} is saved in ${project.name}.`);
    close();
  };
  const form = useForm({
    initial: { name: "", description: "" },
    check: v => ({ name: v.name.trim() ? "" : "A name is needed." }),
    send,
    paths: { "meta.name": "name", "meta.description": "description" },
  });
  const submit = (event: Event) => {
    event.stopPropagation(); // the form around it is not submitted
    return form.submit(event);
  };
  return (
    <Dialog labelledby="asset-title" onClose={close}>
      <form onSubmit={submit} ref={form.form} novalidate>
        <h2 id="asset-title">Save as {word}</h2>
        <p class="soft">It can be loaded into every form of {project.name}.</p>
        <div class="fields">
          <TextField label="Asset name" {...form.field("name")} path="asset-name" />
          <TextField label="Description" {...form.field("description")} path="asset-description" maxlength={250} />
        </div>
        <Problem error={form.problem} />
        <div class="acts">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" writes busy={form.busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
