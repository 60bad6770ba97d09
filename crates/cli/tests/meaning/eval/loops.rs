//! Loops, and regions of lanes.

use super::*;

impl<'a> Run<'a> {
    /// One iteration of a loop, with a limit on their number.
    pub(super) fn iteration(&mut self, body: &'a [Stmt]) -> Eval<Flow> {
        self.iterations += 1;
        if self.iterations > 1_000_000 {
            return Err("a million iterations of loops".into());
        }
        self.body(body)
    }

    /// `for (x,) in pl.while_(init_values=(0,)):`, whose body begins with its condition.
    pub(super) fn while_values(&mut self, stmt: &'a StmtFor, call: &'a ExprCall) -> Eval<Flow> {
        let init = self.expr(&call.arguments.keywords.first().ok_or("no first values")?.value)?;
        let carried = match &*stmt.target {
            Expr::Tuple(tuple) => &tuple.elts[..],
            single => std::slice::from_ref(single),
        };
        self.assign_each(carried, Value::Tuple(init.items()))?;
        let (first, body) = stmt.body.split_first().ok_or("no condition")?;
        let Stmt::Expr(first) = first else { return Err("no condition".into()) };
        let Expr::Call(cond) = &*first.value else { return Err("no condition".into()) };
        while self.expr(&cond.arguments.args[0])?.as_bool()? {
            self.iteration(body)?;
            let yielded = std::mem::take(&mut self.yielded);
            self.assign_each(carried, Value::Tuple(yielded))?;
        }
        Ok(Flow::Next)
    }

    pub(super) fn for_loop(&mut self, stmt: &'a StmtFor) -> Eval<Flow> {
        let Expr::Call(call) = &*stmt.iter else { return Err("a loop over something else than a range".into()) };
        let word = self.expr(&call.func)?;
        let args: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Eval<_>>()?;
        match word.member()? {
            "split_aiv" => return self.region(stmt, call).map(|()| Flow::Next),
            "while_" => return self.while_values(stmt, call),
            "spmd" => {
                self.assign(&stmt.target, Value::Int(self.block))?;
                return self.body(&stmt.body);
            }
            "range" | "unroll" | "pipeline" | "parallel" => {}
            other => return Err(format!("no loop: {other}")),
        }
        let ints: Vec<i128> = args.iter().map(Value::int).collect::<Eval<_>>()?;
        let (first, end, step) = match ints[..] {
            [end] => (0, end, 1),
            [first, end] => (first, end, 1),
            [first, end, step] => (first, end, step),
            _ => return Err("bounds of a loop".into()),
        };
        let init = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|n| n.as_str() == "init_values"));
        let (counter, carried) = match (&*stmt.target, init) {
            (Expr::Tuple(tuple), Some(init)) => {
                let values = self.expr(&init.value)?;
                let carried = match &tuple.elts[1] {
                    Expr::Tuple(tuple) => &tuple.elts[..],
                    single => std::slice::from_ref(single),
                };
                self.assign_each(carried, Value::Tuple(values.items()))?;
                (&tuple.elts[0], carried)
            }
            (target, _) => (target, &[][..]),
        };
        let mut i = first;
        while if step < 0 { i > end } else { i < end } {
            self.assign(counter, Value::Int(i))?;
            match self.iteration(&stmt.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                returned @ Flow::Return(_) => return Ok(returned),
            }
            if !carried.is_empty() {
                let yielded = std::mem::take(&mut self.yielded);
                self.assign_each(carried, Value::Tuple(yielded))?;
            }
            i += step;
        }
        self.body(&stmt.orelse)
    }

    /// A region: for the first Vector core, then for the second.
    pub(super) fn region(&mut self, stmt: &'a StmtFor, call: &'a ExprCall) -> Eval<()> {
        let mode = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|n| n.as_str() == "mode"));
        let mode = mode.map(|mode| self.expr(&mode.value)).transpose()?;
        self.mode = mode.as_ref().map(|mode| mode.member().map(str::to_string)).transpose()?;
        self.gathers.clear();
        let before = std::mem::take(&mut self.names);
        let mut after = [Names::new(), Names::new()];
        // The second lane's tiles are copies of the state before the first lane began.
        let mut own = [Names::new(), Names::new()];
        for (lane, own) in own.iter_mut().enumerate() {
            let mut copies = Vec::new();
            *own = before.iter().map(|(name, value)| (name.clone(), value.of_lane(lane, &mut copies))).collect();
        }
        for (lane, (own, after)) in own.into_iter().zip(&mut after).enumerate() {
            (self.names, self.lane, self.gathered) = (own, Some(lane), 0);
            self.assign(&stmt.target, Value::Int(lane as i128))?;
            self.body(&stmt.body)?;
            *after = std::mem::take(&mut self.names);
        }
        (self.lane, self.mode) = (None, None);
        let [first, second] = after;
        for (name, value) in &first {
            if let Some(other) = second.get(name) {
                self.names.insert(name.clone(), Value::of_both(value, other));
            }
        }
        Ok(())
    }

    // ---- expressions ----
}
