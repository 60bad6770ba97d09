//! Clusters: the kernels started in one form a single task, with a kernel for the Cube core and one for the Vector
//! cores.

use slipring_ir::{Diagnostic, Span};
use slipring_machine::CoreKind;

use crate::host::recorder::Options;
use crate::host::state::Host;

impl<'a> Host<'a> {
    /// Follows the body of a cluster: `with pl.cluster():`, or a function of type Group. Returns its result, and the id
    /// of the task.
    pub(super) fn cluster<T>(
        &mut self,
        span: Span,
        options: &Options,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<usize>) {
        if let Some(outer) = self.rec().cluster {
            let error = Diagnostic::error("cluster", span, "a cluster inside of another one");
            self.stop(error.also(outer, "the outer one"));
        }
        let first = self.rec().graph.tasks.len();
        self.rec().cluster = Some(span);
        let result = body(self);
        self.rec().cluster = None;
        if self.rec().stopped {
            return (result, None);
        }
        self.joined(first, span);
        self.ask(first, options);
        let last = self.rec().graph.tasks.len();
        let id = (last == first + 1).then(|| self.ticket(first));
        (result, id)
    }

    /// Merges the tasks from `first` on into one.
    fn joined(&mut self, first: usize, span: Span) {
        let recorder = self.rec();
        let count = recorder.graph.tasks.len() - first;
        if count < 2 {
            return;
        }
        let kernel = |at: usize| recorder.calls[at].kernel;
        let kinds: Vec<Option<CoreKind>> =
            (first..first + count).map(|at| kernel(at).and_then(|kernel| recorder.kernels.kind(kernel))).collect();
        let (cube, vector) = match kinds[..] {
            [Some(CoreKind::Cube), Some(CoreKind::Vector)] => (first, first + 1),
            [Some(CoreKind::Vector), Some(CoreKind::Cube)] => (first + 1, first),
            _ => {
                let mut error = Diagnostic::error(
                    "cluster",
                    span,
                    "what a cluster starts is one task: a kernel for the Cube core and one for the Vector cores, or one for both",
                );
                for (task, kind) in recorder.graph.tasks[first..].iter().zip(&kinds).take(8) {
                    let what = kind.map_or("both kinds of core, or neither", |kind| kind.name());
                    error = error.also(task.span, format!("`{}`, for {what}", task.name));
                }
                self.stop(error.help("start the others outside of `pl.cluster`, as tasks of their own"));
                return;
            }
        };
        let numbers = [cube, vector].map(|at| recorder.calls[at].kernel.unwrap_or_default());
        let args = [cube, vector].map(|at| recorder.calls[at].args.clone());
        let (kernel, args) = recorder.kernels.pair((numbers[0], &args[0]), (numbers[1], &args[1]));
        let (two, other) = (recorder.graph.tasks.remove(first + 1), recorder.calls.remove(first + 1));
        let (task, call) = (&mut recorder.graph.tasks[first], &mut recorder.calls[first]);
        (call.kernel, call.args) = (Some(kernel), args);
        call.predicate = call.predicate.take().or(other.predicate);
        task.name = recorder.kernels.list[kernel].info.name.clone();
        task.uses.extend(two.uses);
        // A wait of one for the other is dropped: they run at the same time.
        task.after.extend(two.after.into_iter().filter(|other| *other != first));
        task.blocks = task.blocks.max(two.blocks);
        task.together |= two.together;
        task.defers &= two.defers;
        for waits in recorder.later.values_mut() {
            waits.iter_mut().for_each(|(task, _)| *task = first.min(*task));
        }
        recorder.tickets.iter_mut().for_each(|task| *task = first.min(*task));
    }

    /// Applies the options of a start to all tasks from `first` on.
    pub(super) fn ask(&mut self, first: usize, options: &Options) {
        let recorder = self.rec();
        for at in first..recorder.graph.tasks.len() {
            let task = &mut recorder.graph.tasks[at];
            task.after.extend(&options.after);
            task.together |= options.together;
            task.blocks = options.blocks.unwrap_or(task.blocks).max(task.blocks);
            for own in task.uses.iter_mut().filter(|own| options.untracked.contains(&own.tensor)) {
                own.tracked = false;
            }
            for (name, place) in &options.never {
                recorder.later.entry(name.clone()).or_default().push((at, *place));
            }
            if let Some(predicate) = &options.predicate {
                let size = recorder.graph.tensors[predicate.tensor].elem.bytes() as u64;
                recorder.graph.tasks[at].uses.push(super::submit::read_by(predicate, size));
                recorder.calls[at].predicate.get_or_insert_with(|| predicate.clone());
            }
        }
    }

    /// An id for a task that remains valid when the list of tasks changes.
    pub(super) fn ticket(&mut self, task: usize) -> usize {
        let recorder = self.rec();
        recorder.tickets.push(task);
        recorder.tickets.len() - 1
    }
}
