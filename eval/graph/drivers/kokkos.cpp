// Instantiates Kokkos over its serial backend: views, policies, reductions, containers, algorithms.
#include <Kokkos_Bitset.hpp>
#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_DualView.hpp>
#include <Kokkos_DynRankView.hpp>
#include <Kokkos_DynamicView.hpp>
#include <Kokkos_ErrorReporter.hpp>
#include <Kokkos_OffsetView.hpp>
#include <Kokkos_Random.hpp>
#include <Kokkos_ScatterView.hpp>
#include <Kokkos_Sort.hpp>
#include <Kokkos_StaticCrsGraph.hpp>
#include <Kokkos_Timer.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <Kokkos_Vector.hpp>

#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;

void views() {
    Kokkos::View<double*> a("a", 10), b("b", 10);
    Kokkos::View<double**, Kokkos::LayoutLeft> m("m", 4, 5);
    Kokkos::View<double***, Kokkos::LayoutRight> t(Kokkos::view_alloc(Kokkos::WithoutInitializing, "t"), 2, 3, 4);
    Kokkos::View<int[3][4]> fixed("fixed");
    Kokkos::View<double**, Kokkos::LayoutStride> strided = Kokkos::subview(t, 0, Kokkos::ALL(), Kokkos::ALL());
    auto row = Kokkos::subview(m, 1, Kokkos::ALL());
    auto part = Kokkos::subview(a, std::make_pair(1, 4));
    Kokkos::deep_copy(a, 1.0);
    Kokkos::deep_copy(a, b);
    Kokkos::deep_copy(Space(), a, b);
    Kokkos::deep_copy(m, 2.0);
    Kokkos::deep_copy(row, 3.0);
    auto host = Kokkos::create_mirror_view(a);
    auto copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
    auto mirror = Kokkos::create_mirror(m);
    Kokkos::resize(a, 20);
    Kokkos::realloc(m, 5, 6);
    Kokkos::View<const double*, Kokkos::MemoryTraits<Kokkos::RandomAccess>> read = a;
    Kokkos::View<double*, Kokkos::MemoryTraits<Kokkos::Unmanaged>> wrapped(a.data(), a.size());
    Kokkos::View<double*, Kokkos::MemoryTraits<Kokkos::Atomic>> atomic = a;
    atomic(0) += 1.0;
    a(1) = read(2) + m(0, 0) + t(0, 0, 0) + strided(0, 0) + fixed(1, 2) + part(0) + wrapped(0) + host(0) + copied(0);
    std::printf("%s %zu %zu %d %d\n", a.label().c_str(), a.extent(0), m.span(), a.is_allocated(), a.use_count());
    (void)mirror;
    (void)(a == b);
    (void)m.stride_0();
    (void)a.access(0);
    (void)m.layout();
    (void)Kokkos::View<double*>::required_allocation_size(10);
}

// Copies are written out for each rank; so are assignments, mirrors and bounds.
template <class View>
void every_rank(View a, View b) {
    Kokkos::deep_copy(a, b);
    Kokkos::deep_copy(Space(), a, b);
    Kokkos::deep_copy(a, typename View::value_type(1));
    Kokkos::deep_copy(Space(), a, typename View::value_type(1));
    auto mirror = Kokkos::create_mirror_view(a);
    auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
    auto other = Kokkos::create_mirror(Kokkos::HostSpace(), a);
    Kokkos::deep_copy(other, mirror);
    using Const = Kokkos::View<typename View::const_data_type, typename View::array_layout>;
    Const constant(a);
    Kokkos::deep_copy(a, constant);
    using Right = Kokkos::View<typename View::data_type, Kokkos::LayoutRight>;
    Right right("right", a.layout().dimension[0], a.layout().dimension[1], a.layout().dimension[2],
                a.layout().dimension[3], a.layout().dimension[4], a.layout().dimension[5], a.layout().dimension[6],
                a.layout().dimension[7]);
    Kokkos::deep_copy(right, a);
    Kokkos::View<typename View::data_type, Kokkos::LayoutStride> strided(right);
    Kokkos::deep_copy(strided, a);
    for (int axis = 0; axis < 8; ++axis) {
        (void)(a.extent(axis) + a.stride(axis));
    }
    (void)a.span_is_contiguous();
    (void)(a.use_count() + a.stride_0() + a.stride_1());
    (void)(a != right);
    Kokkos::DynRankView<typename View::value_type> dynamic(a);
    Kokkos::deep_copy(dynamic, a);
    Kokkos::deep_copy(a, dynamic);
    auto dynamic_mirror = Kokkos::create_mirror_view(dynamic);
    auto dynamic_copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dynamic);
    Kokkos::deep_copy(dynamic, 1);
    (void)dynamic.rank();
}

void ranks() {
    every_rank(Kokkos::View<double*>("r", 2), Kokkos::View<double*>("r", 2));
    every_rank(Kokkos::View<double**>("r", 2, 2), Kokkos::View<double**>("r", 2, 2));
    every_rank(Kokkos::View<double***>("r", 2, 2, 2), Kokkos::View<double***>("r", 2, 2, 2));
    every_rank(Kokkos::View<double****>("r", 2, 2, 2, 2), Kokkos::View<double****>("r", 2, 2, 2, 2));
    every_rank(Kokkos::View<double*****>("r", 2, 2, 2, 2, 2), Kokkos::View<double*****>("r", 2, 2, 2, 2, 2));
    every_rank(Kokkos::View<double******>("r", 2, 2, 2, 2, 2, 2), Kokkos::View<double******>("r", 2, 2, 2, 2, 2, 2));
    every_rank(Kokkos::View<double*******>("r", 2, 2, 2, 2, 2, 2, 2), Kokkos::View<double*******>("r", 2, 2, 2, 2, 2, 2, 2));
}

struct Sum {
    Kokkos::View<double*> values;
    KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum) const { sum += values(i); }
    KOKKOS_INLINE_FUNCTION void join(double& a, const double& b) const { a += b; }
    KOKKOS_INLINE_FUNCTION void init(double& a) const { a = 0; }
};

struct Tag {};

struct Tagged {
    KOKKOS_INLINE_FUNCTION void operator()(Tag, int) const {}
    KOKKOS_INLINE_FUNCTION void operator()(Tag, const typename Kokkos::TeamPolicy<>::member_type& team) const {
        team.team_barrier();
    }
};

void kernels() {
    Kokkos::View<double*> a("a", 10);
    Kokkos::View<double**> m("m", 10, 10);
    Kokkos::parallel_for("fill", 10, KOKKOS_LAMBDA(int i) { a(i) = i; });
    Kokkos::parallel_for(Kokkos::RangePolicy<Space>(0, 10), KOKKOS_LAMBDA(int i) { a(i) += 1; });
    Kokkos::parallel_for("tag", Kokkos::RangePolicy<Space, Tag>(0, 10), Tagged());
    Kokkos::parallel_for("team tag", Kokkos::TeamPolicy<Space, Tag>(1, 1), Tagged());
    Kokkos::parallel_for("md", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {10, 10}, {2, 2}),
                         KOKKOS_LAMBDA(int i, int j) { m(i, j) = i * j; });
    double sum = 0, most = 0;
    Kokkos::parallel_reduce("sum", 10, Sum{a}, sum);
    Kokkos::parallel_reduce("lambda", 10, KOKKOS_LAMBDA(int i, double& s) { s += a(i); }, sum);
    Kokkos::parallel_reduce("max", 10, KOKKOS_LAMBDA(int i, double& s) { s = a(i); }, Kokkos::Max<double>(most));
    Kokkos::parallel_reduce(10, KOKKOS_LAMBDA(int i, double& s, double& t) { s += a(i); t = s; }, sum,
                            Kokkos::Min<double>(most));
    Kokkos::MinMaxLoc<double, int>::value_type place;
    Kokkos::parallel_reduce("minmax", 10,
                            KOKKOS_LAMBDA(int i, Kokkos::MinMaxLoc<double, int>::value_type& s) { s.min_val = a(i); },
                            Kokkos::MinMaxLoc<double, int>(place));
    Kokkos::parallel_reduce("md", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {10, 10}),
                            KOKKOS_LAMBDA(int i, int j, double& s) { s += m(i, j); }, sum);
    Kokkos::parallel_scan("scan", 10, KOKKOS_LAMBDA(int i, double& s, bool final) {
        s += a(i);
        if (final) {
            a(i) = s;
        }
    });
    Kokkos::parallel_scan("scan", 10, KOKKOS_LAMBDA(int i, double& s, bool) { s += a(i); }, sum);
    using Team = Kokkos::TeamPolicy<Space>;
    Kokkos::parallel_for("team", Team(4, Kokkos::AUTO).set_scratch_size(0, Kokkos::PerTeam(1024)),
                         KOKKOS_LAMBDA(const Team::member_type& team) {
                             double s = 0;
                             Kokkos::View<double*, Space::scratch_memory_space> scratch(team.team_scratch(0), 10);
                             Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 10), [&](int i) { scratch(i) = i; });
                             Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, 10), [&](int i, double& x) { x += i; }, s);
                             Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team, 10), [&](int i, double& x) { x += i; }, s);
                             Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 10), [&](int i) { scratch(i) = i; });
                             Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, 10), [&](int i, double& x, bool) { x += i; });
                             Kokkos::single(Kokkos::PerTeam(team), [&]() { a(0) = s; });
                             Kokkos::single(Kokkos::PerThread(team), [&](double& x) { x = s; }, s);
                             team.team_barrier();
                             team.team_reduce(Kokkos::Sum<double>(s));
                             (void)team.team_scan(1);
                             (void)(team.league_rank() + team.team_size());
                         });
    double reduced = 0;
    Kokkos::parallel_reduce("team sum", Team(4, 1), KOKKOS_LAMBDA(const Team::member_type&, double& s) { s += 1; }, reduced);
    Kokkos::fence();
    Kokkos::Experimental::require(Kokkos::RangePolicy<Space>(0, 10), Kokkos::Experimental::WorkItemProperty::HintLightWeight);
    Kokkos::atomic_add(&a(0), 1.0);
    Kokkos::atomic_fetch_max(&a(0), 1.0);
    Kokkos::atomic_exchange(&a(0), 2.0);
    (void)Kokkos::atomic_compare_exchange(&a(0), 1.0, 2.0);
    Kokkos::atomic_increment(&a(0));
    int flags = 0;
    Kokkos::atomic_or(&flags, 1);
    (void)Kokkos::atomic_fetch_and(&flags, 1);
}

void containers() {
    Kokkos::DualView<double*> dual("dual", 10);
    dual.modify_host();
    dual.sync_device();
    (void)dual.need_sync_host();
    dual.resize(20);
    dual.realloc(5);
    auto on_host = dual.view_host();
    Kokkos::UnorderedMap<int, double> map(100);
    map.insert(1, 2.0);
    (void)map.find(1);
    (void)map.exists(1);
    (void)map.value_at(0);
    map.rehash(200);
    map.clear();
    Kokkos::UnorderedMap<int, void> set(10);
    set.insert(1);
    Kokkos::Bitset<Space> bits(64);
    bits.set(1);
    bits.reset(1);
    (void)bits.test(1);
    (void)bits.count();
    Kokkos::vector<double> vector(10, 1.0);
    vector.push_back(2.0);
    vector.resize(20);
    vector.assign(5, 1.0);
    vector.host_to_device();
    Kokkos::Experimental::DynamicView<double*> dynamic("dynamic", 16, 1024);
    dynamic.resize_serial(32);
    dynamic(0) = 1;
    Kokkos::Experimental::OffsetView<double*> offset("offset", {-1, 5});
    offset(-1) = 1;
    Kokkos::DynRankView<double> rank("rank", 2, 3);
    rank(0, 1) = 2;
    Kokkos::deep_copy(rank, 1.0);
    Kokkos::resize(rank, 4, 5);
    auto sub = Kokkos::subdynrankview(rank, 0, Kokkos::ALL());
    Kokkos::View<double*> target("target", 10);
    auto scatter = Kokkos::Experimental::create_scatter_view(target);
    Kokkos::parallel_for(10, KOKKOS_LAMBDA(int i) {
        auto access = scatter.access();
        access(i) += 1.0;
    });
    Kokkos::Experimental::contribute(target, scatter);
    scatter.reset();
    std::vector<int> sizes{1, 2, 3};
    auto graph = Kokkos::create_staticcrsgraph<Kokkos::StaticCrsGraph<int, Space>>("graph", sizes);
    (void)graph.numRows();
    (void)graph.rowConst(0).length;
    Kokkos::Experimental::ErrorReporter<int, Space> errors(10);
    errors.add_report(1, 2);
    (void)errors.getNumReports();
    (void)on_host;
    (void)sub;
}

void numbers() {
    Kokkos::Random_XorShift64_Pool<Space> pool(1);
    Kokkos::Random_XorShift1024_Pool<Space> wide(1);
    Kokkos::View<double*> a("a", 10);
    Kokkos::fill_random(a, pool, 1.0);
    Kokkos::fill_random(a, wide, 0.0, 1.0);
    auto state = pool.get_state();
    (void)state.drand(0.0, 1.0);
    (void)state.normal();
    (void)state.urand(10);
    (void)state.rand(1, 3);
    pool.free_state(state);
    Kokkos::complex<double> z(1, 2), w = z * z + z / 2.0;
    w = Kokkos::exp(z) + Kokkos::sqrt(w) + Kokkos::conj(z);
    (void)(Kokkos::abs(z) == Kokkos::real(w));
    Kokkos::pair<int, double> p(1, 2.0);
    (void)(p == Kokkos::make_pair(1, 2.0));
    Kokkos::Array<double, 3> array{{1, 2, 3}};
    array[0] = array.size();
    Kokkos::Timer timer;
    timer.reset();
    (void)timer.seconds();
    (void)Kokkos::Experimental::fabs(1.0);
}

void algorithms() {
    Kokkos::View<double*> a("a", 10), b("b", 10);
    Kokkos::sort(a);
    Kokkos::BinSort<Kokkos::View<double*>, Kokkos::BinOp1D<Kokkos::View<double*>>> bins(
        a, Kokkos::BinOp1D<Kokkos::View<double*>>(4, 0.0, 1.0), true);
    bins.create_permute_vector();
    bins.sort(b);
}

struct Task {
    using value_type = int;
    template <class Member>
    KOKKOS_INLINE_FUNCTION void operator()(Member& member, int& result) {
        auto& scheduler = member.scheduler();
        auto child = Kokkos::task_spawn(Kokkos::TaskSingle(scheduler), Task());
        Kokkos::respawn(this, child, Kokkos::TaskPriority::High);
        result = child.get();
    }
};

void tasks() {
    using Scheduler = Kokkos::TaskScheduler<Kokkos::Serial>;
    Scheduler scheduler(typename Scheduler::memory_space(), 1 << 20, 1 << 6, 1 << 10, 1 << 12);
    auto future = Kokkos::host_spawn(Kokkos::TaskTeam(scheduler), Task());
    Kokkos::wait(scheduler);
    (void)future.get();
}

int main(int argc, char* argv[]) {
    Kokkos::ScopeGuard guard(argc, argv);
    Kokkos::print_configuration(std::cout);
    Kokkos::Profiling::pushRegion("all");
    views();
    ranks();
    kernels();
    containers();
    numbers();
    algorithms();
    tasks();
    Kokkos::Profiling::popRegion();
    void* memory = Kokkos::kokkos_malloc("x", 10);
    Kokkos::kokkos_free(memory);
    Kokkos::abort("end");
}
