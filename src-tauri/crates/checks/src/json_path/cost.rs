//! How often a path may look at the same value. `..` inside `..` and long lists inside long lists multiply.

use jsonpath_rust::parser::model::{
    Comparable, Comparison, Filter, FilterAtom, FnArg, JpQuery, Segment, Selector, Test, TestFunction,
};

/// Looking at every value this often is still fast.
const MOST: u64 = 4_096;
/// What one `..` below another can multiply: documents are seldom deeper.
const DESCENT: u64 = 64;

/// Whether a path could look at the same value too many times.
pub(super) fn too_high(query: &JpQuery) -> bool {
    segments(&query.segments) > MOST
}

fn segments(segments: &[Segment]) -> u64 {
    segments.iter().map(segment).fold(1, u64::saturating_mul)
}

fn segment(segment: &Segment) -> u64 {
    match segment {
        Segment::Descendant(inner) => DESCENT.saturating_mul(self::segment(inner)),
        Segment::Selector(one) => selector(one),
        Segment::Selectors(several) => several.iter().map(selector).fold(0, u64::saturating_add),
    }
}

fn selector(selector: &Selector) -> u64 {
    match selector {
        Selector::Filter(filter) => self::filter(filter),
        Selector::Name(_) | Selector::Wildcard | Selector::Index(_) | Selector::Slice(..) => 1,
    }
}

fn filter(filter: &Filter) -> u64 {
    match filter {
        Filter::Or(parts) | Filter::And(parts) => parts.iter().map(self::filter).fold(0, u64::saturating_add),
        Filter::Atom(FilterAtom::Filter { expr, .. }) => self::filter(expr),
        Filter::Atom(FilterAtom::Test { expr, .. }) => test(expr),
        Filter::Atom(FilterAtom::Comparison(comparison)) => {
            let (left, right) = match comparison.as_ref() {
                Comparison::Eq(left, right)
                | Comparison::Ne(left, right)
                | Comparison::Gt(left, right)
                | Comparison::Gte(left, right)
                | Comparison::Lt(left, right)
                | Comparison::Lte(left, right) => (left, right),
            };
            comparable(left).saturating_add(comparable(right))
        }
    }
}

fn comparable(comparable: &Comparable) -> u64 {
    match comparable {
        Comparable::Literal(_) | Comparable::SingularQuery(_) => 1,
        Comparable::Function(function) => self::function(function),
    }
}

fn function(function: &TestFunction) -> u64 {
    match function {
        TestFunction::Custom(_, args) => args.iter().map(argument).fold(1, u64::saturating_add),
        TestFunction::Length(arg) => argument(arg),
        TestFunction::Value(arg) | TestFunction::Count(arg) => argument(arg),
        TestFunction::Search(left, right) | TestFunction::Match(left, right) => {
            argument(left).saturating_add(argument(right))
        }
    }
}

fn argument(argument: &FnArg) -> u64 {
    match argument {
        FnArg::Literal(_) => 1,
        FnArg::Test(inner) => test(inner),
        FnArg::Filter(inner) => filter(inner),
    }
}

/// A path from the root inside a filter is walked again for every value.
fn test(test: &Test) -> u64 {
    match test {
        Test::RelQuery(segments) => self::segments(segments),
        Test::AbsQuery(query) if query.segments.iter().all(is_single) => 1,
        Test::AbsQuery(_) => u64::MAX,
        Test::Function(inner) => function(inner),
    }
}

fn is_single(segment: &Segment) -> bool {
    matches!(segment, Segment::Selector(Selector::Name(_) | Selector::Index(_)))
}
