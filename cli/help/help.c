#include "cli/help/help.h"

#include "cli/command.h"
#include "cli/suggest.h"

#include <stdint.h>
#include <string.h>

static const char *const FIRST[][2] = {
    {"login", "sign in; it asks for what it needs"},
    {"project set NAME", "the project that your commands go to"},
    {"run -g 1 -- COMMAND", "run a command on a GPU and see its output here"},
    {"training submit NAME -i IMAGE -g 1", "submit a training; workspace submit: a notebook or a shell"},
    {"list", "the project's workloads"},
    {"describe NAME", "one of them: what it has, what happened"},
    {"explain NAME", "why it waits, and what would start it"},
    {"logs NAME -f", "its output, to its end"},
    {"bash NAME", "a shell in it; ssh, exec and port-forward too"},
    {"delete NAME", "delete it"},
};

static const char *const TOPICS[][2] = {
    {"Workloads",
     "training workspace inference distributed pytorch mpi tensorflow xgboost jax workload run batch submit "
     "submit-dist submit-mpi list describe get suspend resume delete"},
    {"In a pod", "logs bash exec attach ssh ssh-config port-forward open pods"},
    {"Why and when", "explain queue waiting fairshare receipts idle timeline event top"},
    {"To submit with", "template compute environment datasource pvc credential workload-type"},
    {"Organisation", "project department budget nodepool node cluster cluster-info policy"},
    {"People", "user role access-rule access-key account audit"},
    {"This client", "login logout whoami auth config kubeconfig completion complete version upgrade"},
};

// Words of Run:ai's command lines that have nothing to do here: why, and the command to use; NULL: none.
static const struct {
    const char *words, *why, *use;
} REFUSED[] = {
    {"my-credential", "credentials belong to a project or a department", "credential list"},
    {"diagnostics", "the server keeps the logs, and says how each part of it is", "cluster status"},
    {"report", "this command line keeps no record of its use", NULL},
    {"inference distributed", "the pods of an inference are alike", "inference submit NAME -i IMAGE --max-replicas N"},
    {"nim", "submit the image of the NIM itself", "inference submit NAME -i IMAGE --serving-port 8000"},
    {"datavolume", "data sources are shared by their scope", "datasource list"},
};

// Behind the program's name; by the end of the command's words, the longer first.
static const char *const EXAMPLES[][3] = {
    {"inference submit", "inference submit i1 -i vllm/vllm-openai -g 1 --serving-port 8000",
     "inference submit i1 -i vllm/vllm-openai -g 1 --serving-port 8000 --min-replicas 1 --max-replicas 4"},
    {"workspace submit", "workspace submit w1 -i jupyter/scipy-notebook -g 0.5 --external-url container=8888",
     "workspace submit w1 -i ubuntu --existing-pvc claimname=home,path=/home/me -- sleep infinity"},
    {"pytorch submit", "pytorch submit p1 -i pytorch/pytorch --workers 2 -g 1 -- torchrun train.py",
     "pytorch submit p1 -i pytorch/pytorch --min-replicas 1 --max-replicas 4 -g 1"},
    {"mpi submit", "mpi submit m1 -i mpi-image --workers 2 -g 1 -- mpirun train",
     "mpi submit m1 -i mpi-image --workers 2 --slots-per-worker 2 -g 2 -- mpirun train"},
    {"submit", "training submit t1 -i pytorch/pytorch -g 1 -- python train.py",
     "workspace submit w1 -i jupyter/scipy-notebook -g 0.5 --external-url container=8888"},
    {"list", "list -p team-a", "workload list -A -o wide"},
    {"describe", "describe t1", "describe t1 -o json"},
    {"explain", "explain t1", "explain t1 --at 2026-01-01T00:00:00Z"},
    {"logs", "logs t1 -f", "logs t1 --tail 100 --timestamps"},
    {"exec", "exec job -- nvidia-smi", "exec job -i -- tar x < data.tar"},
    {"bash", "bash t1", "bash t1 --pod t1-0-0"},
    {"port-forward", "port-forward w1 8888", "port-forward w1 9000:8888 --address 0.0.0.0"},
    {"open", "open notebook", "open notebook --port 6006 --print"},
    {"ssh", "ssh job", "ssh job -- nvidia-smi"},
    {"ssh-config", "ssh-config >>~/.ssh/config", "ssh-config -p team-a"},
    {"batch", "batch train.sh", "batch -g 2 --begin 22:00 train.sh data/7 -- --epochs 3"},
    {"run", "run -g 1 -- python train.py", "run -g 2 --venv .venv --env-from-shell -- python train.py --epochs 3"},
    {"suspend", "suspend t1 t2", "suspend -A -p team-a"},
    {"delete", "delete t1 t2", "delete t1 -y"},
    {"login", "login user -u ann@example.org", "login access-key --client-id ID --client-secret SECRET"},
};

void help_first(const char *program, FILE *out)
{
    fprintf(out, "Begin here:\n");
    for (size_t i = 0; i < sizeof(FIRST) / sizeof(FIRST[0]); i++)
        fprintf(out, "  %-36s %s\n", FIRST[i][0], FIRST[i][1]);
    fprintf(out, "\nAll others, by topic:\n");
    for (size_t i = 0; i < sizeof(TOPICS) / sizeof(TOPICS[0]); i++) {
        int column = fprintf(out, "  %-16s", TOPICS[i][0]);
        for (const char *at = TOPICS[i][1]; *at; at += strspn(at, " ")) {
            int length = (int)strcspn(at, " ");
            if (column + length > 96)
                column = fprintf(out, "\n%-18s", "") - 1;
            else if (at > TOPICS[i][1])
                column += fprintf(out, " ");
            column += fprintf(out, "%.*s%s", length, at, at[length] ? "," : "");
            at += length;
        }
        fputc('\n', out);
    }
    fprintf(out, "\n%s COMMAND --help says more of each; %s help commands lists them all.\n", program, program);
}

static void print_command(const struct command *command, FILE *out)
{
    fprintf(out, "  %-30s %s%s\n", command->words, command->sentence, command->is_old ? " (earlier spelling)" : "");
}

void help_all(const char *program)
{
    printf("Usage: %s COMMAND [FLAGS]\n\n", program);
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));)
        print_command(command, stdout);
    printf("\n%s COMMAND --help says more of each.\n", program);
}

static bool is_command(const char *words)
{
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));)
        if (strcmp(command->words, words) == 0)
            return true;
    return false;
}

static bool begins_with_word(const struct command *command, const char *word)
{
    size_t length = strlen(word);
    return strncmp(command->words, word, length) == 0 && (command->words[length] == ' ' || !command->words[length]);
}

// "training pytorch list" beside "training list".
static bool is_of_framework(const char *words, size_t *out_begin, size_t *out_length)
{
    char without[64];
    const char *second = strchr(words, ' '), *third = second ? strchr(second + 1, ' ') : NULL;
    if (!third || snprintf(without, sizeof(without), "%.*s%s", (int)(second - words), words, third) < 0)
        return false;
    *out_begin = (size_t)(second + 1 - words);
    *out_length = (size_t)(third - second - 1);
    return is_command(without);
}

void help_word(const char *program, const char *word, FILE *out)
{
    char frameworks[128] = "", name[32];
    size_t used = 0, begin, length;
    fprintf(out, "Usage: %s %s COMMAND [FLAGS]\n\n", program, word);
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));) {
        if (!begins_with_word(command, word))
            continue;
        if (!is_of_framework(command->words, &begin, &length)) {
            print_command(command, out);
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)length, command->words + begin);
        if (!strstr(frameworks, name) && used + length + 3 < sizeof(frameworks))
            used += (size_t)snprintf(frameworks + used, sizeof(frameworks) - used, "%s%s", used ? ", " : "", name);
    }
    if (used > 0)
        fprintf(out, "\nThe same of one kind: %s %s KIND COMMAND, where KIND is %s.\n", program, word, frameworks);
    fprintf(out, "\n%s %s COMMAND --help says more of each.\n", program, word);
}

// The commands that begin with the words of this one: for login the ways to sign in.
static void show_others(const struct cli *cli)
{
    size_t length = strlen(cli->command->words);
    bool is_first = true;
    struct command_walk walk = {0};
    for (const struct command *other; (other = command_next(&walk));) {
        if (strncmp(other->words, cli->command->words, length) != 0 || other->words[length] != ' ')
            continue;
        printf("%s  %s %s\n      %s\n", is_first ? "\nCommands:\n" : "", other->words, other->usage, other->sentence);
        is_first = false;
    }
}

static void show_examples(const struct cli *cli)
{
    const char *words = cli->command->words;
    for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++) {
        size_t length = strlen(words), end = strlen(EXAMPLES[i][0]);
        bool is_whole = length == end, is_end = length > end && words[length - end - 1] == ' ' && cli->command->kind;
        if ((!is_whole && !is_end) || strcmp(words + length - end, EXAMPLES[i][0]) != 0)
            continue;
        printf("Examples:\n  %s %s\n  %s %s\n\n", cli->program, EXAMPLES[i][1], cli->program, EXAMPLES[i][2]);
        return;
    }
}

void help_command(const struct cli *cli)
{
    const struct flag *const globals[] = {GLOBAL_FLAGS, NULL};
    printf("Usage: %s %s %s\n\n%s\n\n", cli->program, cli->command->words, cli->command->usage, cli->command->sentence);
    show_examples(cli);
    if (cli->command->flags)
        flags_help(cli->command->flags, cli->command->kind ? cli->command->kind->type : NULL);
    flags_help(globals, NULL);
    show_others(cli);
}

// How far the words are from those that were written; SIZE_MAX where one of them is another.
static size_t distance_of(const char *words, int argc, char **argv)
{
    size_t sum = 0;
    for (int i = 1; *words; i++) {
        char word[SUGGEST_LENGTH_MAX + 1];
        size_t length = strcspn(words, " ");
        if (i >= argc || *argv[i] == '-' || length >= sizeof(word))
            return SIZE_MAX;
        snprintf(word, sizeof(word), "%.*s", (int)length, words);
        size_t distance = suggest_distance(argv[i], word);
        if (!suggest_is_near(argv[i], distance))
            return SIZE_MAX;
        sum += distance;
        words += length + (words[length] == ' ');
    }
    return sum;
}

static size_t count_words(const char *words)
{
    size_t count = 1;
    for (; *words; words++)
        count += *words == ' ';
    return count;
}

// NULL: none is near. The one that takes the most of the words, then the nearest.
static const char *nearest_command(int argc, char **argv)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX, most = 0;
    struct command_walk walk = {0};
    for (const struct command *command; (command = command_next(&walk));) {
        size_t distance = distance_of(command->words, argc, argv), count = count_words(command->words);
        if (distance == SIZE_MAX || count < most || (count == most && distance >= least))
            continue;
        least = distance;
        most = count;
        nearest = command->words;
    }
    return nearest;
}

static bool begins_with_words(int argc, char **argv, const char *words)
{
    for (int i = 1; i < argc; i++) {
        size_t length = strcspn(words, " ");
        if (strlen(argv[i]) != length || strncmp(argv[i], words, length) != 0)
            return false;
        words += length;
        if (!*words++)
            return true;
    }
    return false;
}

void help_unknown(const char *program, int argc, char **argv, bool has_first)
{
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++)
        if (begins_with_words(argc, argv, REFUSED[i].words)) {
            fprintf(stderr, "Error: %s is not there: %s", REFUSED[i].words, REFUSED[i].why);
            if (REFUSED[i].use)
                fprintf(stderr, "; use %s %s", program, REFUSED[i].use);
            fputc('\n', stderr);
            return;
        }
    const char *nearest = nearest_command(argc, argv);
    bool has_second = has_first && argc > 2 && *argv[2] != '-';
    fprintf(stderr, "Error: unknown command \"%s%s%s\"", argv[1], has_second ? " " : "", has_second ? argv[2] : "");
    if (nearest)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest);
    else
        fprintf(stderr, "; %s%s%s --help lists them\n", program, has_first ? " " : "", has_first ? argv[1] : "");
}
