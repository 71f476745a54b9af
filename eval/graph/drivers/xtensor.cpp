// Instantiates xtensor's containers, views, expressions, reductions and files.
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xaxis_iterator.hpp>
#include <xtensor/xaxis_slice_iterator.hpp>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xcomplex.hpp>
#include <xtensor/xcsv.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xhistogram.hpp>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xio.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmasked_view.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xnorm.hpp>
#include <xtensor/xnpy.hpp>
#include <xtensor/xoptional_assembly.hpp>
#include <xtensor/xpad.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <iostream>
#include <sstream>

template <class A>
void containers(A a) {
    A b = a, c(a.shape());
    b = a + 2.0 * a - a / 3.0;
    b += a;
    b *= 2.0;
    b -= a(0, 1);
    xt::noalias(c) = a * b;
    c = xt::where(a > b, a, b);
    c = xt::maximum(a, b) + xt::minimum(a, b);
    c = xt::exp(a) + xt::log(b) + xt::sin(a) * xt::cos(b) + xt::pow(a, 2.0) + xt::abs(a) + xt::sqrt(a) + xt::square(a);
    c = xt::clip(a, 0.0, 1.0) + xt::sign(a) + xt::floor(a) + xt::atan2(a, b) + xt::fma(a, b, a);
    a.at(0, 1) = b[{0, 1}];
    a.fill(1.0);
    a.flat(0) = a.element(std::vector<std::size_t>{0, 1}.begin(), std::vector<std::size_t>{0, 1}.end());
    (void)a.periodic(-1, 5);
    (void)a.in_bounds(0, 1);
    (void)(a == b);
    (void)xt::allclose(a, b);
    (void)xt::isclose(a, b)();
    (void)xt::any(a > 0.0);
    (void)xt::all(a >= 0.0);
    (void)(a < b && a > b || !(a <= b));
    double s = xt::sum(a)() + xt::mean(a)() + xt::prod(a)() + xt::amax(a)() + xt::amin(a)() + xt::stddev(a)() + xt::variance(a)();
    s += xt::norm_l1(a)() + xt::norm_l2(a)() + xt::norm_linf(a)() + xt::median(a) + xt::average(a)();
    auto lazy = xt::sum(a, {0});
    auto now = xt::sum(a, {1}, xt::evaluation_strategy::immediate);
    auto kept = xt::mean(a, {0}, xt::keep_dims);
    auto running = xt::cumsum(a, 0) + xt::cumprod(a, 1);
    auto order = xt::argsort(a);
    auto sorted = xt::sort(a, 0);
    auto most = xt::argmax(a, 1);
    auto least = xt::argmin(a);
    auto difference = xt::diff(a, 1, 0);
    auto trapezoid = xt::trapz(a, 1.0, 0);
    auto where = xt::argwhere(a > 0.0);
    auto nonzero = xt::nonzero(a);
    auto filtered = xt::filter(a, a > 0.5);
    filtered += 1.0;
    xt::filtration(a, a > 0.5) = 2.0;
    auto indexed = xt::index_view(a, {{0, 1}, {1, 0}});
    indexed = 3.0;
    std::cout << a << lazy << now << kept << running << order << sorted << most << least << difference << trapezoid
              << s << where.size() << nonzero.size();
    for (auto it = a.template begin<xt::layout_type::column_major>(); it != a.template end<xt::layout_type::column_major>(); ++it) {
        *it += 1.0;
    }
    for (auto it = xt::axis_slice_begin(a, 1); it != xt::axis_slice_end(a, 1); ++it) {
        std::cout << *it;
    }
    std::reverse(a.rbegin(), a.rend());
}

void views() {
    xt::xarray<double> a = xt::arange<double>(24).reshape({2, 3, 4});
    auto v = xt::view(a, 0, xt::all(), xt::range(1, 3));
    v = 1.0;
    v += xt::ones<double>({3, 2});
    auto step = xt::view(a, xt::range(xt::placeholders::_, xt::placeholders::_, 2));
    xt::view(a, 1, 0) = xt::view(a, 0, 1);
    auto strided = xt::strided_view(a, {0, xt::all(), xt::range(0, 4, 2)});
    strided = 5.0;
    auto dynamic = xt::dynamic_view(a, {0, xt::all(), xt::range(0, 2)});
    auto transposed = xt::transpose(a);
    auto flat = xt::ravel(a) + xt::flatten(a);
    auto squeezed = xt::squeeze(xt::expand_dims(a, 0));
    auto flipped = xt::flip(a, 0);
    auto turned = xt::rot90(xt::view(a, 0));
    auto rolled = xt::roll(a, 2, 1);
    auto repeated = xt::repeat(a, 2, 0);
    auto trimmed = xt::trim_zeros(xt::xtensor<double, 1>{0, 1, 0});
    auto parts = xt::split(a, 2, 0);
    auto row = xt::row(xt::view(a, 0), 0);
    auto tiled = xt::tile(xt::view(a, 0), {2, 2});
    auto wide = xt::broadcast(xt::xarray<double>{1, 2, 3, 4}, {2, 3, 4});
    auto together = xt::concatenate(xt::xtuple(a, a), 0);
    auto stacked = xt::stack(xt::xtuple(a, a), 1);
    auto vertical = xt::vstack(xt::xtuple(xt::view(a, 0), xt::view(a, 1)));
    auto grid = xt::meshgrid(xt::linspace<double>(0, 1, 5), xt::logspace<double>(0, 1, 5));
    auto diagonal = xt::diag(xt::diagonal(xt::view(a, 0)));
    auto lower = xt::tril(xt::view(a, 0)) + xt::triu(xt::view(a, 0));
    auto masked = xt::masked_view(a, a > 1.0);
    masked = 2.0;
    auto combined = xt::eval(a + 1.0);
    xt::xarray<double> other = xt::zeros<double>({2, 2}) + xt::eye(2) + xt::empty<double>({2, 2}) + xt::full_like(xt::eye(2), 3.0);
    a.reshape({6, 4});
    a.resize({3, 3});
    std::cout << v << step << dynamic << transposed << flat << squeezed << flipped << turned << rolled
              << repeated << trimmed << parts.size() << row << tiled << wide << together << stacked << vertical
              << std::get<0>(grid) << diagonal << lower << combined << other;
}

void others() {
    std::vector<double> data{1, 2, 3, 4};
    auto adapted = xt::adapt(data, {2, 2});
    adapted(0, 0) = 2.0;
    auto pointer = xt::adapt(data.data(), data.size(), xt::no_ownership(), std::vector<std::size_t>{2, 2});
    pointer *= 2.0;
    xt::xtensor_fixed<double, xt::xshape<2, 2>> fixed{{1, 2}, {3, 4}};
    fixed = fixed + 1.0;
    xt::xarray<double, xt::layout_type::column_major> column = fixed;
    xt::random::seed(1);
    xt::xarray<double> r = xt::random::rand<double>({3, 3}) + xt::random::randn<double>({3, 3}) + xt::random::randint<int>({3, 3}, 0, 5);
    xt::random::shuffle(r);
    auto chosen = xt::random::choice(xt::flatten(r), 2);
    auto counts = xt::histogram(xt::flatten(r), std::size_t(4));
    auto bins = xt::bincount(xt::xtensor<int, 1>{0, 1, 1});
    xt::xarray<std::complex<double>> z = r;
    auto parts = xt::real(z) + xt::imag(z) + xt::arg(z) + xt::norm(z);
    xt::xarray_optional<double> maybe = r;
    maybe(0, 0) = xtl::missing<double>();
    auto sum = maybe + maybe;
    std::stringstream text;
    xt::dump_csv(text, r);
    auto read = xt::load_csv<double>(text);
    xt::dump_npy("x.npy", r);
    auto loaded = xt::load_npy<double>("x.npy");
    auto unique = xt::unique(xt::flatten(r));
    auto positions = xt::searchsorted(unique, unique);
    auto partitioned = xt::partition(xt::flatten(r), 2);
    auto interpolated = xt::interp(unique, unique, unique);
    auto converted = xt::cast<int>(r);
    std::cout << column << chosen << counts << bins << parts << sum(0, 0) << read << loaded << unique << positions
              << partitioned << interpolated << converted;
}

void run() {
    containers(xt::xarray<double>{{1, 2}, {3, 4}});
    containers(xt::xtensor<double, 2>{{1, 2}, {3, 4}});
    views();
    others();
}
