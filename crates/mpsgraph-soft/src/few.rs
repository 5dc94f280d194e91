//! Lists that are short almost always.

/// A list whose first items need no memory of their own; if there are more than `N`, all are in one vector.
pub(crate) struct Few<T, const N: usize> {
    few: [T; N],
    count: usize,
    many: Vec<T>,
}

impl<T: Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self { few: std::array::from_fn(|_| T::default()), count: 0, many: Vec::new() }
    }
}

impl<T: Default, const N: usize> Few<T, N> {
    pub fn push(&mut self, item: T) {
        if self.count < N {
            self.few[self.count] = item;
        } else {
            if self.count == N {
                self.many.extend(self.few.iter_mut().map(std::mem::take));
            }
            self.many.push(item);
        }
        self.count += 1;
    }

    pub fn as_slice(&self) -> &[T] {
        if self.count <= N { &self.few[..self.count] } else { &self.many }
    }
}

impl<T: Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<T: Default + Clone, const N: usize> Clone for Few<T, N> {
    fn clone(&self) -> Self {
        self.as_slice().iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn short_and_long_lists_hold_what_was_pushed() {
        for count in 0..6_u32 {
            let list: Few<String, 3> = (0..count).map(|at| at.to_string()).collect();
            let expected: Vec<String> = (0..count).map(|at| at.to_string()).collect();
            assert_eq!(list.as_slice(), expected);
            assert_eq!(list.clone().as_slice(), expected);
        }
    }
}
