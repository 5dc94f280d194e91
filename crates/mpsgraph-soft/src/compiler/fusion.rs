//! Groups elementwise nodes into single passes over memory.
//!
//! Every root gets a level: one more than its inputs' levels, except that it may share the level of an input that is
//! elementwise itself and is read element by element (a *fusable* edge). Nodes of one level that fusable edges connect
//! become a group. No path can leave a group and come back, since every edge between groups leads to a higher level:
//! the groups are in an order by construction.

use super::views::{LoopOp, View, Work};
use crate::ir::{Nodes, Op, ValueId};
use crate::kernels::KernelOp;
use std::collections::HashMap;

/// Loops up to this length are merged, also if they read different memory: starting one costs more than running it.
const TINY: usize = 256;
/// Loops up to this length are merged whatever they read together, and as many as there are.
const SMALL: usize = 4096;
/// How many longer loops are merged because they read the same memory. The results of all of them are there at a time,
/// and so is what else they read: a loop over batches that is one graph would need the memory of all batches.
const TOGETHER: usize = 8;

/// What one step computes.
#[derive(Debug)]
pub enum Group<'g> {
    /// One pass over memory, its operations in the order of the graph.
    Loop(Vec<(ValueId, LoopOp)>),
    Copy(ValueId),
    MatMul(ValueId),
    Kernel(ValueId, &'g KernelOp),
}

impl Group<'_> {
    /// The values that the step makes, in the order of the graph.
    pub fn values(&self) -> Vec<ValueId> {
        match self {
            Group::Loop(members) => members.iter().map(|&(id, _)| id).collect(),
            Group::Copy(id) | Group::MatMul(id) | Group::Kernel(id, _) => vec![*id],
        }
    }
}

/// Inputs of a node as the loop or kernel reads them: elementwise operands broadcast to the output's shape.
pub fn operands(nodes: &Nodes, views: &[View], id: ValueId) -> Vec<View> {
    let node = nodes.node(id);
    let broadcast = matches!(node.op, Op::Elementwise(_));
    let operand = |input: &ValueId| {
        let view = &views[input.0 as usize];
        if broadcast { view.broadcast(&node.output.shape) } else { view.clone() }
    };
    node.inputs.iter().map(operand).collect()
}

/// The groups in an order in which they can run; `works` says how the roots are made.
///
/// At first all levels are as early as possible. Then a group that only later groups read is moved up to the first of
/// them if that joins the two, so that its values stay in a tile and are not stored and read again. Last, groups of one
/// level and length that read the same memory, a few at a time, or are tiny, become one.
///
/// In the graph of `y = exp(x) * sum(exp(x)) + cast(bias)`, all of one shape but for the sum, which is a kernel:
///
/// ```text
/// node           level at first                   behind `sink`
/// x, bias        0, as all that no step makes     0
/// e = exp(x)     1                                1: `s` reads it
/// s = sum(e)     2                                2
/// c = cast(bias) 1                                3: only `y` reads it, by a fusable edge
/// m = e * s      3: `s` is a kernel of level 2    3
/// y = m + c      3                                3
/// ```
///
/// So the steps are the loop `e`, the kernel `s`, and the loop of `c`, `m` and `y`. The edge from `e` to `m` is fusable
/// too, but joins nothing, because their levels differ: `s` is between them.
pub fn group<'g>(nodes: &'g Nodes, views: &'g [View], works: &[Option<Work<'g>>]) -> Vec<Group<'g>> {
    let mut pass = Pass::new(nodes, views, works);
    pass.join_levels();
    pass.sink();
    pass.join_siblings();
    pass.in_order()
}

/// That a computed node reads another one, whatever views are between them.
struct Edge {
    from: usize,
    to: usize,
    /// Whether both are elementwise and the one is read element by element.
    fusable: bool,
}

/// Of how many groups one was joined, by its representative.
type Siblings = HashMap<usize, usize>;

struct Pass<'a, 'g> {
    nodes: &'g Nodes,
    views: &'g [View],
    /// How a node is computed, by a step of its own or as part of one.
    works: &'a [Option<Work<'g>>],
    level: Vec<usize>,
    /// Union-find forest of groups.
    parent: Vec<usize>,
    /// Between computed nodes, in the order of their ends.
    edges: Vec<Edge>,
}

impl<'a, 'g> Pass<'a, 'g> {
    fn new(nodes: &'g Nodes, views: &'g [View], works: &'a [Option<Work<'g>>]) -> Self {
        let count = nodes.len();
        let (level, parent) = (vec![0; count], (0..count).collect());
        let mut pass = Self { nodes, views, works, level, parent, edges: Vec::new() };
        (0..count).filter(|&at| works[at].is_some()).for_each(|at| pass.connect(at));
        pass
    }

    /// Adds the edges to a node from what it reads, and gives it its level.
    fn connect(&mut self, at: usize) {
        let id = ValueId(at as u32);
        for (view, input) in operands(self.nodes, self.views, id).iter().zip(&self.nodes.node(id).inputs) {
            let from = view.root.0 as usize;
            let producer = &self.nodes.node(view.root).output;
            let fusable = self.is_loop(at)
                && self.is_loop(from)
                && self.nodes.ty(*input).dtype == producer.dtype
                && view.elements() == producer.elements()
                && view.offset == 0
                && view.is_consecutive();
            self.level[at] = self.level[at].max(self.level[from] + usize::from(!fusable));
            if self.works[from].is_some() {
                self.edges.push(Edge { from, to: at, fusable });
            }
        }
    }

    fn loop_op(&self, at: usize) -> Option<LoopOp> {
        match self.works[at]? {
            Work::Loop(op) => Some(op),
            Work::Copy | Work::MatMul | Work::Kernel(_) => None,
        }
    }

    fn is_loop(&self, at: usize) -> bool {
        self.loop_op(at).is_some()
    }

    /// The representative of the node's group.
    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Joins nodes of one level that fusable edges connect.
    fn join_levels(&mut self) {
        for at in 0..self.edges.len() {
            let Edge { from, to, fusable } = self.edges[at];
            if fusable && self.level[from] == self.level[to] {
                self.join(from, to);
            }
        }
    }

    /// Members of every group, by its representative.
    fn members(&mut self) -> HashMap<usize, Vec<usize>> {
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        let works = self.works;
        for at in (0..works.len()).filter(|&at| works[at].is_some()) {
            let group = self.find(at);
            members.entry(group).or_default().push(at);
        }
        members
    }

    /// Moves groups up to the level of the first one that reads them, where that joins them; the last groups first.
    fn sink(&mut self) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.works.len()];
        for (at, edge) in self.edges.iter().enumerate() {
            users[edge.from].push(at);
        }
        let members = self.members();
        let mut order: Vec<&Vec<usize>> = members.values().filter(|group| self.is_loop(group[0])).collect();
        order.sort_by_key(|group| std::cmp::Reverse((self.level[group[0]], group[0])));
        for group in order {
            let representative = self.find(group[0]);
            // What reads the group: the node, and whether the edge to it is fusable.
            let mut outside: Vec<(usize, bool)> = group
                .iter()
                .flat_map(|&node| users[node].iter())
                .map(|&edge| (self.edges[edge].to, self.edges[edge].fusable))
                .collect();
            outside.retain(|&(to, _)| self.find(to) != representative);
            // The highest level at which the group still comes before this reader, or joins it.
            let bound = |&(to, fusable): &(usize, bool)| self.level[to] - usize::from(!fusable);
            let Some(level) = outside.iter().map(bound).min() else {
                continue;
            };
            let is_joined = |&&(to, fusable): &&(usize, bool)| fusable && self.level[to] == level;
            let joins: Vec<usize> = outside.iter().filter(is_joined).map(|&(to, _)| to).collect();
            if level > self.level[group[0]] && !joins.is_empty() {
                group.iter().for_each(|&node| self.level[node] = level);
                joins.into_iter().for_each(|to| self.join(representative, to));
            }
        }
    }

    /// Joins groups of one level and length that share an operand, or that are tiny.
    fn join_siblings(&mut self) {
        let mut readers: HashMap<(usize, usize, Option<View>), usize> = HashMap::new();
        let mut siblings = Siblings::default();
        for at in 0..self.works.len() {
            if !self.is_loop(at) {
                continue;
            }
            let id = ValueId(at as u32);
            let elements = self.nodes.ty(id).elements();
            let mut keys = vec![];
            if elements <= TINY {
                keys.push((self.level[at], elements, None));
            } else {
                // A row that is read again and again is in the cache, whoever reads it.
                let is_worth_it = |view: &View| {
                    let mut axes = view.shape.iter().zip(&view.strides);
                    if elements <= SMALL {
                        axes.any(|(_, &stride)| stride != 0)
                    } else {
                        axes.all(|(&extent, &stride)| extent == 1 || stride != 0)
                    }
                };
                let shared = operands(self.nodes, self.views, id).into_iter().filter(is_worth_it);
                keys.extend(shared.map(|view| (self.level[at], elements, Some(view))));
            }
            let most = if elements <= SMALL { usize::MAX } else { TOGETHER };
            for key in keys {
                match readers.get(&key) {
                    Some(&other) if self.join_sibling(other, at, most, &mut siblings) => (),
                    Some(_) | None => {
                        readers.insert(key, at);
                    }
                }
            }
        }
    }

    /// Joins two groups unless that would be more than so many siblings; says whether they are one now.
    fn join_sibling(&mut self, a: usize, b: usize, most: usize, siblings: &mut Siblings) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return true;
        }
        let count = [a, b].map(|group| siblings.get(&group).copied().unwrap_or(1)).iter().sum();
        if count > most {
            return false;
        }
        self.join(a, b);
        siblings.insert(a.min(b), count);
        true
    }

    /// Groups by level, and within a level by their last node, which keeps the order of the graph.
    fn in_order(mut self) -> Vec<Group<'g>> {
        let members = self.members();
        let mut groups: Vec<Vec<usize>> = members.into_values().collect();
        groups.sort_by_key(|group| group[0]);
        let mut group_of = vec![usize::MAX; self.works.len()];
        for (at, group) in groups.iter().enumerate() {
            group.iter().for_each(|&node| group_of[node] = at);
        }
        let mut waits = vec![0usize; groups.len()];
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
        for edge in &self.edges {
            let (from, to) = (group_of[edge.from], group_of[edge.to]);
            if from != to {
                after[from].push(to);
                waits[to] += 1;
            }
        }
        // Of the groups that could run, the first in the graph's order: values then live about as long as the graph's
        // author expected.
        let key = |at: usize| (std::cmp::Reverse(groups[at].last().copied()), at);
        let mut ready: std::collections::BinaryHeap<_> =
            (0..groups.len()).filter(|&at| waits[at] == 0).map(key).collect();
        let mut ordered = Vec::with_capacity(groups.len());
        while let Some((_, at)) = ready.pop() {
            ordered.push(at);
            for &next in &after[at] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(key(next));
                }
            }
        }
        assert_eq!(ordered.len(), groups.len(), "groups depend on each other in a circle");
        ordered.into_iter().map(|at| self.group(&groups[at])).collect()
    }

    /// The group of these nodes; only a loop has more than one.
    fn group(&self, members: &[usize]) -> Group<'g> {
        let id = |at: usize| ValueId(at as u32);
        match self.works[members[0]].expect("a group's nodes are computed") {
            Work::Loop(_) => Group::Loop(members.iter().filter_map(|&at| Some((id(at), self.loop_op(at)?))).collect()),
            Work::Copy => Group::Copy(id(members[0])),
            Work::MatMul => Group::MatMul(id(members[0])),
            Work::Kernel(op) => Group::Kernel(id(members[0]), op),
        }
    }
}
