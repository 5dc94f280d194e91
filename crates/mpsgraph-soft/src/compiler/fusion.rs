//! Groups elementwise nodes into single passes over memory.
//!
//! Every root gets a level: one more than its inputs', but for inputs that are elementwise themselves and are read
//! element by element (a *fusable* edge), whose level it may share. Nodes of one level that fusable edges connect
//! become a group. No path can leave a group and come back, since every edge between groups leads to a higher level:
//! the groups are in an order by construction.
//!
//! Levels are as early as possible first. A group that only later groups read is then moved up to the first of them
//! if that joins the two: what was to be stored and read again stays in a tile. Last, groups of one level and length
//! that read the same memory, or are tiny, become one.

use super::views::View;
use crate::ir::{Graph, Op, ValueId};
use std::collections::HashMap;

/// Loops up to this length are merged whatever they read: starting one costs more than running it.
const TINY: usize = 256;

/// Nodes that one step computes, in the order of the graph. One that is not elementwise stands alone.
#[derive(Debug)]
pub struct Group {
    pub nodes: Vec<ValueId>,
    pub elementwise: bool,
}

/// Whether a tile loop can compute `node`. A reshape that is no view is a copy in another order.
pub fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Select | Op::Clamp | Op::Cast | Op::Reshape)
}

/// Inputs of `node` as the loop or kernel reads them: elementwise operands broadcast to the output's shape.
pub fn operands(graph: &Graph, views: &[View], id: ValueId) -> Vec<View> {
    let node = graph.node(id);
    let broadcast = is_elementwise(&node.op) && node.op != Op::Reshape;
    let operand = |input: &ValueId| {
        let view = &views[input.0 as usize];
        if broadcast { view.broadcast(&node.output.shape) } else { view.clone() }
    };
    node.inputs.iter().map(operand).collect()
}

/// All steps to be, in an order in which they can run.
pub fn group(graph: &Graph, views: &[View]) -> Vec<Group> {
    let mut pass = Pass::new(graph, views);
    pass.join_levels();
    pass.sink();
    pass.join_siblings();
    pass.in_order()
}

struct Edge {
    from: usize,
    to: usize,
    fusable: bool,
}

struct Pass<'a> {
    graph: &'a Graph,
    views: &'a [View],
    /// Whether a node is computed by a step of its own or as part of one.
    computed: Vec<bool>,
    level: Vec<usize>,
    /// Union-find forest of groups.
    parent: Vec<usize>,
    /// Between computed nodes, in the order of their ends.
    edges: Vec<Edge>,
}

impl<'a> Pass<'a> {
    fn new(graph: &'a Graph, views: &'a [View]) -> Self {
        let count = graph.nodes.len();
        let mut computed = vec![false; count];
        let mut level = vec![0; count];
        let mut edges = Vec::new();
        for (at, node) in graph.nodes.iter().enumerate() {
            let leaf = matches!(node.op, Op::Placeholder | Op::Constant(_) | Op::Splat(_));
            if leaf || views[at].root.0 as usize != at {
                continue;
            }
            computed[at] = true;
            for (view, input) in operands(graph, views, ValueId(at as u32)).iter().zip(&node.inputs) {
                let from = view.root.0 as usize;
                let producer = &graph.nodes[from];
                let fusable = is_elementwise(&node.op)
                    && computed[from]
                    && is_elementwise(&producer.op)
                    && graph.ty(*input).dtype == producer.output.dtype
                    && view.elements() == producer.output.elements()
                    && view.offset == 0
                    && view.is_consecutive();
                level[at] = level[at].max(level[from] + usize::from(!fusable));
                if computed[from] {
                    edges.push(Edge { from, to: at, fusable });
                }
            }
        }
        Self { graph, views, computed, level, parent: (0..count).collect(), edges }
    }

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
        for at in (0..self.computed.len()).filter(|&at| self.computed[at]).collect::<Vec<_>>() {
            let group = self.find(at);
            members.entry(group).or_default().push(at);
        }
        members
    }

    /// Moves groups up to the level of the first one that reads them, where that joins them; the last groups first.
    fn sink(&mut self) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.computed.len()];
        for (at, edge) in self.edges.iter().enumerate() {
            users[edge.from].push(at);
        }
        let members = self.members();
        let mut order: Vec<&Vec<usize>> = members.values().filter(|nodes| self.is_loop(nodes[0])).collect();
        order.sort_by_key(|nodes| std::cmp::Reverse((self.level[nodes[0]], nodes[0])));
        for nodes in order {
            let group = self.find(nodes[0]);
            let mut outside: Vec<(usize, bool)> = nodes
                .iter()
                .flat_map(|&node| users[node].iter())
                .map(|&edge| (self.edges[edge].to, self.edges[edge].fusable))
                .collect();
            outside.retain(|&(to, _)| self.find(to) != group);
            let bound = |&(to, fusable): &(usize, bool)| self.level[to] - usize::from(!fusable);
            let Some(level) = outside.iter().map(bound).min() else {
                continue;
            };
            let joins: Vec<usize> =
                outside.iter().filter(|&&(to, f)| f && self.level[to] == level).map(|&(to, _)| to).collect();
            if level > self.level[nodes[0]] && !joins.is_empty() {
                nodes.iter().for_each(|&node| self.level[node] = level);
                joins.into_iter().for_each(|to| self.join(group, to));
            }
        }
    }

    fn is_loop(&self, node: usize) -> bool {
        is_elementwise(&self.graph.nodes[node].op)
    }

    /// Joins groups of one level and length that share an operand, or that are tiny.
    fn join_siblings(&mut self) {
        let mut readers: HashMap<(usize, usize, Option<View>), usize> = HashMap::new();
        for at in 0..self.computed.len() {
            if !self.computed[at] || !self.is_loop(at) {
                continue;
            }
            let elements = self.graph.nodes[at].output.elements();
            let mut keys = vec![];
            if elements <= TINY {
                keys.push((self.level[at], elements, None));
            } else {
                let shared = operands(self.graph, self.views, ValueId(at as u32)).into_iter();
                let shared = shared.filter(|view| view.strides.iter().any(|&stride| stride != 0));
                keys.extend(shared.map(|view| (self.level[at], elements, Some(view))));
            }
            for key in keys {
                match readers.get(&key) {
                    Some(&other) => self.join(other, at),
                    None => {
                        readers.insert(key, at);
                    }
                }
            }
        }
    }

    /// Groups by level, and within one by their last node, which keeps to the order of the graph.
    fn in_order(mut self) -> Vec<Group> {
        let members = self.members();
        let mut groups: Vec<Vec<usize>> = members.into_values().collect();
        groups.sort_by_key(|nodes| nodes[0]);
        let mut group_of = vec![usize::MAX; self.computed.len()];
        for (at, nodes) in groups.iter().enumerate() {
            nodes.iter().for_each(|&node| group_of[node] = at);
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
        // Of what could run, what the graph has first: values then live about as long as their author expected.
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
        let group = |at: usize| Group {
            nodes: groups[at].iter().map(|&node| ValueId(node as u32)).collect(),
            elementwise: self.is_loop(groups[at][0]),
        };
        ordered.into_iter().map(group).collect()
    }
}
